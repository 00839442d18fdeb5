"""The entries of numba's cache: a data file and the index that refers to it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from observatory.guard.caches.entries import Entry, Origin, StateName
from observatory.guard.scan.numba_files import DATA, INDEX, Realm, entries_of, find
from observatory.guard.scan.pickles import CacheFileError
from observatory.guard.scan.scanning import Report, scan

_PYTHON = re.compile(r"py([0-9])([0-9]+)[a-z]*")
_UNFINISHED = re.compile(r".*\.nb[ic]\.tmp\..*")
"""numba writes under such a name, and renames the file when it is complete."""
GRACE = 3600.0
"""Seconds for which a file without an index may belong to a build that is going on."""


def functions(directory: Path, now: float) -> list[Entry]:
    """Return the entries of all numba caches below a directory.

    Entries that another process could load have the state ``unknown``. Raises nothing for files
    that are broken: these are entries of their own.
    """
    found = find(directory)
    entries = [
        *_leftovers(directory, now),
        *(
            _broken(path, f"the directory cannot be read: {reason}")
            for path, reason in found.broken
        ),
    ]
    if not (found.indexes or found.data):
        return entries
    report = scan(directory)
    broken = {directory / one.path: one.reason for one in report.unreadable}
    hidden = [index for index in found.indexes if index in broken and not readable(index)]
    reached: set[Path] = set()
    for index in found.indexes:
        if index in broken:
            entries.append(_broken(index, broken[index]))
            continue
        for path, realm in _contents(index):
            reached.add(path)
            entries.append(_entry(index, path, realm, broken))
    entries += (_unreached(path, now, hidden) for path in found.data if path not in reached)
    return list(_marked(entries, directory, report))


def _contents(index: Path) -> Iterable[tuple[Path, Realm]]:
    try:
        return entries_of(index)
    except CacheFileError:  # it changed since it was scanned
        return ()


def _entry(index: Path, path: Path, realm: Realm, broken: dict[Path, str]) -> Entry:
    name, origin = index.name.removesuffix(INDEX), _origin(realm)
    try:
        stat = path.lstat()
    except OSError:
        return Entry(name, origin, (), 0, _time(index), index, "missing", path.name)
    state: StateName = "broken" if path in broken else "unknown"
    if state == "broken" and not readable(path):
        state = "unreadable"
    return Entry(
        name, origin, (path,), stat.st_size, stat.st_mtime, index, state, broken.get(path, "")
    )


def _origin(realm: Realm) -> Origin:
    python = _PYTHON.fullmatch(realm.python)
    return Origin("numba", f"{python[1]}.{python[2]}" if python else "", realm.numba, realm.machine)


def _unreached(path: Path, now: float, hidden: Iterable[Path]) -> Entry:
    """A data file that no index refers to. numba writes the index first, so it is no new one.

    ``hidden``: indexes that cannot be read, and may refer to it.
    """
    stat = path.lstat()
    state: StateName = "unreachable" if now - stat.st_mtime > GRACE else "new"
    if any(path.name.startswith(one.name.removesuffix(INDEX)) for one in hidden):
        state = "unreadable"
    name = path.name.removesuffix(DATA)
    return Entry(name, Origin("numba", ""), (path,), stat.st_size, stat.st_mtime, state=state)


def _leftovers(directory: Path, now: float) -> Iterator[Entry]:
    found = (Path(here, name) for here, _, names in os.walk(directory) for name in names)
    for path in sorted(path for path in found if _UNFINISHED.fullmatch(path.name)):
        if not path.is_symlink() and path.is_file():
            stat = path.lstat()
            state: StateName = "leftover" if now - stat.st_mtime > GRACE else "new"
            yield Entry(
                path.name, Origin("numba", ""), (path,), stat.st_size, stat.st_mtime, state=state
            )


def _broken(path: Path, reason: str) -> Entry:
    whole = path.is_file() and not path.is_symlink()
    size = path.lstat().st_size if whole else 0
    paths = (path,) if whole else ()
    state: StateName = "broken" if readable(path) else "unreadable"
    return Entry(path.name, Origin("numba", ""), paths, size, _time(path), None, state, reason)


def readable(path: Path) -> bool:
    """Whether this user may read a file: nobody knows what another one's contains."""
    return os.access(path, os.R_OK)


def _time(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _marked(entries: list[Entry], directory: Path, report: Report) -> Iterator[Entry]:
    """The entries; those that define a shared symbol are in the worse of its states."""
    shared: dict[Path, tuple[StateName, str]] = {}
    for symbol in report.symbols:  # collided ones come first
        if symbol.kind != "harmless":
            for file in symbol.files:
                shared.setdefault(directory / file, (symbol.kind, symbol.function))
    for entry in entries:
        found = next((shared[path] for path in entry.paths if path in shared), None)
        if found is not None and entry.state == "unknown":
            yield replace(entry, state=found[0], reason=f"the symbol is that of {found[1]}")
        else:
            yield entry
