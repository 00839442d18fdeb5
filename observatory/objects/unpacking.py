"""Files of a store in a directory: to be changed by a publisher, or as a copy that is kept."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from observatory.objects.bucket import Bucket
from observatory.objects.index import Entry
from observatory.objects.packs import taken
from observatory.store.asv.listing import MACHINE
from observatory.store.records import layout, triage

_BY_CONTENT = frozenset({layout.LEDGERS, layout.PROFILES, layout.POOLS})


def files_in(directory: Path) -> set[str]:
    """The paths of the files below a directory, without hidden ones and links."""
    found: set[str] = set()
    for here, names, files in os.walk(directory):
        names[:] = [name for name in names if not name.startswith(".")]
        below = Path(here).relative_to(directory)
        found.update(
            (below / name).as_posix()
            for name in files
            if not name.startswith(".") and not Path(here, name).is_symlink()
        )
    return found


def counts(path: str) -> bool:
    """Whether a file holds results of subjects, from which alerts follow."""
    first, slash, rest = path.partition("/")
    if first == layout.SAMPLES:
        return True
    return bool(slash) and first not in _OTHERS and rest.endswith(".json") and rest != MACHINE


_OTHERS = frozenset({*layout.RESERVED, triage.DIRECTORY})


def concerned(files: Mapping[str, Entry], given: Collection[str]) -> set[str]:
    """The files of a store that change, or decide what becomes of others, if ``given`` are added.

    Of journals and result files those of the same subjects; of records all of a kind; ledgers and
    profiles only if they are given, too, so that they are known to be there.
    """
    split = [path.split("/") for path in given]
    kinds = {parts[0] for parts in split if len(parts) > 1}
    machines = kinds | {parts[1] for parts in split if parts[0] == layout.SAMPLES}
    subjects = {
        tuple(Path(path.removeprefix(f"{layout.SAMPLES}/")).with_suffix("").parts) for path in given
    }

    def wanted(path: str) -> bool:
        first, slash, rest = path.partition("/")
        if path in given or not slash or first == triage.DIRECTORY:
            return True
        if first in _BY_CONTENT:
            return False
        if counts(path):
            below = rest if first == layout.SAMPLES else path
            return tuple(Path(below).with_suffix("").parts) in subjects
        return first in (machines if rest == MACHINE else kinds)

    return set(filter(wanted, files))


def unpack(bucket: Bucket, entries: Iterable[Entry], into: Path, near: Sequence[Path] = ()) -> None:
    """Write files into a directory; those that a directory ``near`` has, too, are copied from it.

    Raises OSError, and StoreError and UnreachableError as `taken`.
    """
    missing: list[Entry] = []
    for entry in entries:
        same = next((one / entry.path for one in near if is_there(one / entry.path, entry)), None)
        if same is None:
            missing.append(entry)
            continue
        (into / entry.path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(same, into / entry.path)
    for entry, pieces in taken(bucket, missing):
        target = into / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with target.open("wb") as stream:
                stream.writelines(pieces)
        except BaseException:  # the last piece tells whether the content is right
            target.unlink(missing_ok=True)
            raise


def is_there(path: Path, entry: Entry) -> bool:
    """Whether a file has the content of an entry."""
    try:
        if path.is_symlink() or path.stat().st_size != entry.size:
            return False
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == entry.sha
    except OSError:
        return False
