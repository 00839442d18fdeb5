"""A copy of results on this machine, brought up to date by fetching what it lacks.

Everything else reads that copy: commands, pages and plain asv read directories. Beside the results
lies a list of what was fetched, so that an unchanged file is not read again, and a file that was
changed here is never written over.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from observatory.objects.collection import Collection
from observatory.objects.index import Entry, is_path
from observatory.objects.packs import taken
from observatory.objects.unpacking import is_there
from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordUsageError

LIST = ".fetched"
_AT_ONCE = 2_000
_LINE = re.compile(r"([^\t]+)\t([0-9a-f]{64})\t(\d+)\t(\d+)")
_NAMED = 3


@dataclass(frozen=True)
class _Fetched:
    """A file as it was when it was written here."""

    sha: str
    size: int
    changed: int
    """In nanoseconds, by the file system."""


@dataclass(frozen=True)
class Copied:
    """What bringing a copy up to date took."""

    version: int | None
    """The version that the copy is of; None if the store is empty."""
    fetched: int
    """The number of files."""
    of: int


def bring_up_to_date(collection: Collection, into: Path) -> Copied:
    """Make ``into`` a copy of the results; it is new, empty, or a copy of the same address.

    Files that are not in the store stay. Raises RecordUsageError if the directory is another one,
    or if a file that would be replaced was changed here, and OSError, StoreError, UnreachableError.
    """
    before = _load(collection.address, into)
    state = collection.state()
    files = state.files()
    wanted: list[Entry] = []
    ours: dict[str, _Fetched] = {}
    changed: list[str] = []
    for path, entry in sorted(files.items()):
        known = before.get(path)
        same, touched = _look(into / path, entry, known)
        if same is None:
            wanted.append(entry)
            if touched:
                changed.append(path)
        else:
            ours[path] = same
    gone = [path for path in before if path not in files]
    changed += [path for path in gone if _look(into / path, None, before[path])[1]]
    if changed:
        more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
        raise RecordUsageError(
            f"{into} has changes that are not in {collection.address}, in "
            f"{', '.join(changed[:_NAMED])}{more}; publish the directory first, or give a new one"
        )
    into.mkdir(parents=True, exist_ok=True)
    for path in gone:
        (into / path).unlink(missing_ok=True)
    _save(collection.address, into, ours)
    in_packs = sorted(wanted, key=lambda one: (one.pack, one.start))
    for at in range(0, len(in_packs), _AT_ONCE):
        for entry, content in taken(collection.bucket, in_packs[at : at + _AT_ONCE]):
            write_atomic(into / entry.path, content)
            ours[entry.path] = _of(into / entry.path, entry.sha)
        _save(collection.address, into, ours)
    return Copied(state.number, len(wanted), len(files))


def is_copy(directory: Path) -> bool:
    """Whether a directory was made by `bring_up_to_date`."""
    return (directory / LIST).is_file()


def _look(path: Path, entry: Entry | None, known: _Fetched | None) -> tuple[_Fetched | None, bool]:
    """Return the file if it has the content of an entry; else None, and whether it was changed."""
    try:
        now = path.lstat()
    except OSError:
        return None, False
    untouched = known is not None and (now.st_size, now.st_mtime_ns) == (known.size, known.changed)
    if known is not None and untouched:
        return (known, False) if entry is not None and known.sha == entry.sha else (None, False)
    if entry is not None and is_there(path, entry):
        return _of(path, entry.sha), False
    if known is None or not path.is_file():
        return None, True
    with path.open("rb") as stream:
        return None, hashlib.file_digest(stream, "sha256").hexdigest() != known.sha


def _of(path: Path, sha: str) -> _Fetched:
    found = path.stat()
    return _Fetched(sha, found.st_size, found.st_mtime_ns)


def _load(address: str, into: Path) -> dict[str, _Fetched]:
    """The list of a copy. Raises RecordUsageError if it is not one of this address."""
    if not into.exists() or (into.is_dir() and not any(into.iterdir())):
        return {}
    if not is_copy(into):
        raise RecordUsageError(
            f"{into} exists already and is no copy of {address}; give a new directory"
        )
    first, *lines = (into / LIST).read_text().split("\n")
    if first != address:
        raise RecordUsageError(f"{into} is a copy of {first[:200]}; give a new directory")
    return dict(_parsed(lines))


def _parsed(lines: list[str]) -> Iterator[tuple[str, _Fetched]]:
    for line in lines:
        # The copy may be from somebody else, and files that the store lacks are removed.
        if (match := _LINE.fullmatch(line)) and is_path(match[1]):
            yield match[1], _Fetched(match[2], int(match[3]), int(match[4]))


def _save(address: str, into: Path, files: dict[str, _Fetched]) -> None:
    lines = (f"{path}\t{one.sha}\t{one.size}\t{one.changed}" for path, one in files.items())
    write_atomic(into / LIST, "\n".join([address, *lines]).encode())
