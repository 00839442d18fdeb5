"""Put a directory of pages in its place, whole or not at all, and never over somebody's files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from observatory.errors import ObservatoryError
from observatory.store.base.files import sync_directory

MARKER = ".observatory-site"
"""Names, one a line, the files of a directory that this module wrote."""


class NotOurDirectoryError(ObservatoryError):
    """The target holds something not written here; the message says what, and what to do."""


def publish(files: Mapping[str, bytes], out: Path) -> None:
    """Replace ``out`` by a directory that holds ``files`` (relative path to content).

    Everything is written and synced beside ``out`` first and then renamed; killed at any instant,
    the old or the new directory is complete on disk. A file whose content is the same is not
    written again: the new directory has the old file.

    Raises:
        NotOurDirectoryError: ``out`` exists and is not, entirely, what an earlier call wrote.

    """
    out = out.resolve()
    refuse_foreign(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    # mkdtemp's own directory stays private; the page is a child with the usual permissions.
    workshop = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        fresh, old = workshop / "new", workshop / "old"
        _write(files, fresh, out)
        if out.exists():
            out.rename(old)
        try:
            fresh.rename(out)
        except OSError:
            if old.exists():
                old.rename(out)
            raise
        sync_directory(out.parent)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def refuse_foreign(out: Path) -> None:
    """Raise NotOurDirectoryError unless ``out`` is absent, empty, or all written by ``publish``."""
    if not out.exists():
        return
    if not out.is_dir():
        raise NotOurDirectoryError(f"{out} is a file; choose a directory for the pages")
    present = {
        str(path.relative_to(out)) for path in out.rglob("*") if path.is_symlink() or path.is_file()
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


def _write(files: Mapping[str, bytes], folder: Path, old: Path) -> None:
    folder.mkdir()
    names = "".join(f"{name}\n" for name in sorted(files)).encode()
    for name, content in [*sorted(files.items()), (MARKER, names)]:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not _linked(old / name, path, content):
            with path.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
    for each in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        sync_directory(each)


def _linked(old: Path, new: Path, content: bytes) -> bool:
    """Whether ``new`` could be made another name of a file that has this content."""
    try:
        if old.is_symlink() or old.read_bytes() != content:
            return False
        os.link(old, new)
    except OSError:  # there is no such file, or the file system has no links
        return False
    return True
