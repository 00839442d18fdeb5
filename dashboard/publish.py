"""Put a directory of pages in its place, whole or not at all, and never over somebody's files."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from observatory.dashboard.kept import Kept, Later
from observatory.errors import ObservatoryError
from observatory.store.base.files import sync_directory, write_atomic
from observatory.store.base.locking import locked_at_once
from observatory.store.base.scratch import scratch

MARKER = ".observatory-site"
"""Names, one a line, the files of a directory that this module wrote."""
_OLD = "old"
"""The name of the pages that are being replaced, in the directory of `_beside`."""


class NotOurDirectoryError(ObservatoryError):
    """The target holds something not written here; the message says what, and what to do."""


def publish(
    files: Iterable[tuple[str, bytes | Later]], out: Path, kept: Kept | None = None
) -> None:
    """Replace ``out`` by a directory that holds ``files`` (relative path and content).

    Everything is written and synced beside ``out`` first and then renamed; killed at any instant,
    the old or the new directory is complete on disk, and `restore` puts it in its place. A file
    whose content is the same is not written again: the new directory has the old file. One that is
    made later is not even made if ``kept`` has its key. Files are made one at a time: all of them
    may not fit into memory.

    Raises:
        NotOurDirectoryError: ``out`` exists and is not, entirely, what an earlier call wrote.

    """
    out = out.resolve()
    restore(out)
    refuse_foreign(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    # The temporary directory stays private; the page is a child with the usual permissions.
    with scratch(out.parent, _beside(out)) as work:
        fresh, old = work / "new", work / _OLD
        _write(files, fresh, out, kept or Kept())
        try:
            if out.exists():
                out.rename(old)
            fresh.rename(out)
        except BaseException:  # Ctrl-C too: what is left here is removed
            if old.exists() and not out.exists():
                old.rename(out)
            raise
        sync_directory(out.parent)


def add(out: Path, name: str, content: bytes) -> None:
    """Add a file to the pages in ``out``, or replace it, until the next `publish`.

    Killed at any instant, the pages are ours: the file is listed before it is there. Raises OSError
    if no pages are there, or if they cannot be written.
    """
    out = out.resolve()
    restore(out)
    names = (out / MARKER).read_text("utf-8").splitlines()
    listed = "".join(f"{one}\n" for one in sorted({*names, name})).encode()
    # Not among the pages, where a temporary file that is left would be somebody else's.
    with scratch(out.parent, _beside(out)) as work:
        for each, made in ((MARKER, listed), (name, content)):
            _put(each, made, work, out)
            (out / each).parent.mkdir(exist_ok=True, parents=True)
            (work / each).replace(out / each)
            sync_directory((out / each).parent)


def add_or_write(path: Path, content: bytes) -> None:
    """Replace a file as a whole, by `add` if it is inside of pages. Raises OSError."""
    path = path.absolute()
    out = next((place for place in path.parents if (place / MARKER).is_file()), None)
    if out is None:
        write_atomic(path, content)
    else:
        add(out, path.relative_to(out).as_posix(), content)


def restore(out: Path) -> None:
    """Put back pages that a killed process had moved away to replace them; remove all it left."""
    for left in out.parent.glob(f"{glob.escape(_beside(out))}*"):
        with contextlib.suppress(OSError):  # where directories cannot be locked, all stays
            if left.is_symlink() or left.lstat().st_uid != os.getuid():
                continue
            with locked_at_once(left) as unused:
                if not unused:
                    continue
                if not out.exists() and (left / _OLD).exists():
                    (left / _OLD).rename(out)
                shutil.rmtree(left, ignore_errors=True)


def _beside(out: Path) -> str:
    """How the names of temporary directories beside ``out`` begin."""
    return f".{out.name}.observatory-"


def refuse_foreign(out: Path) -> None:
    """Raise NotOurDirectoryError unless ``out`` is absent, empty, or all written by ``publish``."""
    if not out.exists():
        return
    if not out.is_dir():
        raise NotOurDirectoryError(f"{out} is a file; choose a directory for the pages")
    # As texts: they may be thousands.
    length = len(str(out)) + 1
    present = {
        f"{place}{os.sep}{name}"[length:]
        for place, below, names in os.walk(out)
        for name in [*names, *filter(partial(_is_link, place), below)]
    }
    if not present:
        return
    marker = out / MARKER
    if not marker.is_file():
        raise NotOurDirectoryError(
            f"{out} was not made by the observatory (no {MARKER} in it) and would be replaced; "
            "choose another directory or empty this one"
        )
    strange = sorted(present - {MARKER, *marker.read_text("utf-8").splitlines()})
    if strange:
        raise NotOurDirectoryError(
            f"{out} holds {strange[0]}, which the observatory did not write; "
            "move it away or choose another directory"
        )


def _is_link(place: str, name: str) -> bool:
    return os.path.islink(f"{place}{os.sep}{name}")  # noqa: PTH114 as texts


def _write(files: Iterable[tuple[str, bytes | Later]], folder: Path, old: Path, kept: Kept) -> None:
    folder.mkdir()
    names: list[str] = []
    for name, made in files:
        names.append(name)
        if isinstance(made, Later):
            kept.files_now[name] = made.key
            if kept.files.get(name) == made.key and _link(old / name, folder / name):
                continue
        _put(name, made.make() if isinstance(made, Later) else made, folder, old)
    _put(MARKER, "".join(f"{name}\n" for name in sorted(names)).encode(), folder, old)
    for each in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        sync_directory(each)


def _put(name: str, content: bytes, folder: Path, old: Path) -> None:
    path = folder / name
    if not _has(old / name, content) or not _link(old / name, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def _has(path: Path, content: bytes) -> bool:
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except OSError:  # there is no such file
        return False


def _link(old: Path, new: Path) -> bool:
    """Whether ``new`` could be made another name of a file; not where a file system has no links.

    A symbolic link may lead out of the directory.
    """
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        if old.is_symlink():
            return False
        os.link(old, new)
    except OSError:
        return False
    return True
