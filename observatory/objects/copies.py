"""A copy of results on this machine, brought up to date by fetching what it lacks.

Everything else reads that copy: commands, pages and plain asv read directories. Beside the results
lies a list of what was fetched, so that an unchanged file is not read again, and what was added
here is never written over. The list also says what is about to be written: killed at any instant,
the next update goes on.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from observatory.objects.collection import Collection
from observatory.objects.index import Entry, is_path
from observatory.objects.packs import taken
from observatory.objects.unpacking import is_there, unpack
from observatory.store.base.files import write_atomic
from observatory.store.base.problems import RecordError, RecordUsageError
from observatory.store.base.scratch import temporary
from observatory.store.merging.directories import unite
from observatory.store.records import layout, triage
from observatory.text.words import first_of

LIST = ".fetched"
_LINE = re.compile(r"([^\t]+)\t([0-9a-f]{64})\t(\d+)\t(\d+)")
_NAMED = 3


@dataclass(frozen=True)
class _Fetched:
    """A file as it was when it was written here."""

    sha: str
    size: int
    changed: int
    """In nanoseconds, by the file system; 0: it may have been written, or not yet."""


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

    Files that are not in the store stay. A file that was changed here is replaced if publishing it
    would add nothing. Raises RecordUsageError if the directory is another one, or if a file that
    would be replaced has something to add, and OSError, StoreError, UnreachableError.
    """
    before = _load(collection.address, into)
    state = collection.state()
    files = state.files()
    wanted: list[Entry] = []
    ours: list[tuple[str, _Fetched]] = []
    changed: list[str] = []
    for path, entry in sorted(files.items()):
        same, touched = _look(into / path, entry, before.get(path, ()))
        if same is not None:
            ours.append((path, same))
            continue
        wanted.append(entry)
        if touched:
            changed.append(path)
    if changed:
        held = _held(collection, files, changed, into)
        changed = [path for path in changed if path not in held]
    gone = [path for path in before if path not in files]
    changed += [path for path in gone if _look(into / path, None, before[path])[1]]
    if changed:
        raise RecordUsageError(
            f"{into} has changes that are not in {collection.address}, in "
            f"{first_of(changed, _NAMED)}; publish the directory first, or move away what you do "
            "not need"
        )
    into.mkdir(parents=True, exist_ok=True)
    for path in gone:
        (into / path).unlink(missing_ok=True)
    due = [(one.path, _Fetched(one.sha, one.size, 0)) for one in wanted]
    old = [(one.path, known) for one in wanted for known in before.get(one.path, ())]
    _save(collection.address, into, [*ours, *old, *due])
    for entry, pieces in taken(collection.bucket, wanted):
        write_atomic(into / entry.path, pieces)
        ours.append((entry.path, _of(into / entry.path, entry.sha)))
    _save(collection.address, into, ours)
    return Copied(state.number, len(wanted), len(files))


def _held(
    collection: Collection, files: Mapping[str, Entry], changed: Sequence[str], into: Path
) -> set[str]:
    """Those of the changed files to which the store has everything that is in them.

    Adding them to what the store has would change nothing there. An asv file of a journal follows
    from that, and a ledger or profile whose name is not its hash is damaged. What people write by
    hand is never among them.
    """
    derived = {
        path for path in changed
        if path.partition("/")[0] in (layout.LEDGERS, layout.PROFILES)
        or (path.count("/") == 1 and layout.journal_beside(Path(), Path(path)).as_posix() in files)
    }  # fmt: skip
    by_hand = (triage.FILE, triage.DIRECTORY, "README.md")
    compared = [
        files[path] for path in changed
        if path not in derived and path.partition("/")[0] not in by_hand
        and not path.endswith("/machine.json")  # merging leaves it as it is
        and (into / path).is_file() and not (into / path).is_symlink()
    ]  # fmt: skip
    if not compared:
        return derived
    with temporary("observatory-changed-") as work:
        theirs, mine = work / "theirs", work / "mine"
        unpack(collection.bucket, compared, theirs)
        for name in (layout.LEDGERS, layout.PROFILES):
            # What the samples here refer to is here, and none of it needs to be copied.
            (theirs / name).symlink_to(into.resolve() / name)
        for entry in compared:
            (mine / entry.path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(into / entry.path, mine / entry.path)
        with contextlib.suppress(RecordError):
            if not unite(theirs, [mine]).problems:  # what cannot be read cannot be compared, either
                return derived | {one.path for one in compared if is_there(theirs / one.path, one)}
    return derived


def is_copy(directory: Path) -> bool:
    """Whether a directory was made by `bring_up_to_date`."""
    return (directory / LIST).is_file()


def fetched(directory: Path) -> dict[str, str]:
    """The SHA-256 of each file of a copy as it was fetched, by path. Raises OSError.

    What an interrupted update had only announced is not among them.
    """
    lines = (directory / LIST).read_text().split("\n")[1:]
    return {path: one.sha for path, one in _parsed(lines) if one.changed}


def _look(
    path: Path, entry: Entry | None, known: Sequence[_Fetched]
) -> tuple[_Fetched | None, bool]:
    """Return the file if it has the content of an entry; else None, and whether it was changed."""
    try:
        now = path.lstat()
    except OSError:
        return None, False
    for one in known:
        if one.changed and (now.st_size, now.st_mtime_ns) == (one.size, one.changed):
            return (one, False) if entry is not None and one.sha == entry.sha else (None, False)
    if entry is not None and is_there(path, entry):
        return _of(path, entry.sha), False
    if not known or not path.is_file():
        return None, True
    with path.open("rb") as stream:
        sha = hashlib.file_digest(stream, "sha256").hexdigest()
    return None, sha not in {one.sha for one in known}


def _of(path: Path, sha: str) -> _Fetched:
    found = path.stat()
    return _Fetched(sha, found.st_size, found.st_mtime_ns)


def _load(address: str, into: Path) -> dict[str, list[_Fetched]]:
    """The list of a copy. Raises RecordUsageError if it is not one of this address."""
    found: dict[str, list[_Fetched]] = {}
    if not into.exists() or (into.is_dir() and not any(into.iterdir())):
        return found
    if not is_copy(into):
        raise RecordUsageError(
            f"{into} exists already and is no copy of {address}; give a new directory"
        )
    first, *lines = (into / LIST).read_text().split("\n")
    if first != address:
        raise RecordUsageError(f"{into} is a copy of {first[:200]}; give a new directory")
    for path, one in _parsed(lines):
        found.setdefault(path, []).append(one)
    return found


def _parsed(lines: list[str]) -> Iterator[tuple[str, _Fetched]]:
    for line in lines:
        # The copy may be from somebody else, and files that the store lacks are removed.
        if (match := _LINE.fullmatch(line)) and is_path(match[1]):
            yield match[1], _Fetched(match[2], int(match[3]), int(match[4]))


def _save(address: str, into: Path, files: Iterable[tuple[str, _Fetched]]) -> None:
    lines = (f"{path}\t{one.sha}\t{one.size}\t{one.changed}" for path, one in files)
    write_atomic(into / LIST, "\n".join([address, *lines]).encode())
