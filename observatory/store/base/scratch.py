"""Temporary directories, which may be large: what killed processes left of them is removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from observatory.store.base.locking import locked_at_once


@contextlib.contextmanager
def scratch(root: Path, prefix: str) -> Iterator[Path]:
    """A new directory in ``root`` that nothing else uses; removed after the block. Raises OSError.

    A process that is killed leaves the directory, but holds its lock no longer: `remove_unused`.
    """
    with ExitStack() as held:
        ours = False
        while not ours:  # another process may have removed it before it was locked
            made = Path(tempfile.mkdtemp(prefix=prefix, dir=root))
            try:
                ours = held.enter_context(locked_at_once(made))
            except OSError:  # some network file systems do not lock directories: nobody removes it
                ours = made.is_dir()
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)


@contextlib.contextmanager
def temporary(prefix: str, root: Path | None = None) -> Iterator[Path]:
    """A new directory below ``root``; what killed processes left there goes.

    ``root``: None: the directory for temporary files. The new directory is inside of a `scratch`,
    because whoever changes results holds the lock of their directory. Only what belongs to this
    user is removed. Raises OSError.
    """
    root = root or Path(tempfile.gettempdir())
    for path in root.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            if path.lstat().st_uid == os.getuid():
                remove_unused(path, [path])
    with scratch(root, prefix) as made:
        inside = made / "inside"
        inside.mkdir()
        yield inside


def remove_unused(path: Path, locks: Sequence[Path]) -> None:
    """Remove a directory, but no link, and not while somebody holds a lock. Raises OSError."""
    if path.is_symlink() or not path.is_dir():
        return
    with ExitStack() as held:
        if all(held.enter_context(locked_at_once(one)) for one in locks):
            shutil.rmtree(path, ignore_errors=True)
