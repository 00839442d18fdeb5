"""What can load the entries of a cache, and which files may be deleted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from observatory.errors import ObservatoryError
from observatory.guard.caches.entries import STATES, Entry, Origin, Reader, StateName
from observatory.guard.caches.functions import functions
from observatory.guard.caches.modules import OLD, compiledirs, modules


class NoEntriesError(ObservatoryError):
    """The directory does not exist, or contains nothing that PyTensor or numba compiled."""


@dataclass(frozen=True, slots=True)
class Group:
    """The entries that were compiled for one thing and are in one state."""

    origin: Origin
    state: StateName
    reason: str
    """Why none of the Pythons can load them; empty in other states."""
    entries: int
    size: int
    """Bytes."""
    oldest: float
    newest: float
    """Seconds since 1970, when the files were written."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An entry that a process loads wrongly, or never."""

    state: StateName
    name: str
    reason: str
    paths: list[str]
    """Relative to the directory that was inspected."""
    size: int


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a cache."""

    schema: Literal["observatory/guard/caches/1"]
    directory: str
    entries: int
    size: int
    """Bytes of all entries."""
    readers: list[Reader]
    groups: list[Group]
    findings: list[Finding]
    """Entries in the states that only a look at the file shows; the worst come first."""
    deletable: list[str]
    """Files, and directories of C modules; relative to the directory that was inspected."""
    deletable_size: int

    def has(self, *states: StateName) -> bool:
        """Whether an entry is in one of these states."""
        return any(group.state in states for group in self.groups)


_OF_GROUPS: tuple[StateName, ...] = ("other", "old", "unknown", "usable", "new")
"""The states of whole groups, whose entries are not listed one by one."""
_ORDER = {state: place for place, state in enumerate(STATES)}


def inspect(directory: Path, readers: Sequence[Reader], now: float, old: float = OLD) -> Report:
    """Return what a cache contains and what the Pythons make of it.

    ``now``: seconds since 1970; ``old``: as `modules` has it. Nothing in the files is unpickled,
    imported or run. Raises NoEntriesError.
    """
    if not directory.is_dir():
        raise NoEntriesError(f"{directory} is not a directory")
    found = functions(directory, now)
    for compiledir in compiledirs(directory):
        found += modules(compiledir, now, old)
    if not found:
        raise NoEntriesError(
            f"{directory} contains no cache: name PyTensor's base_compiledir or NUMBA_CACHE_DIR"
        )
    entries = [_judged(entry, readers) for entry in found]
    deletable = sorted(_deletable(entries))
    sizes = {path: entry.size for entry in entries for path in entry.paths}
    return Report(
        schema="observatory/guard/caches/1", directory=_text(directory), entries=len(entries),
        size=sum(entry.size for entry in entries), readers=list(readers), groups=_groups(entries),
        findings=sorted(_findings(entries, directory), key=_rank),
        deletable=[_relative(path, directory) for path in deletable],
        deletable_size=sum(sizes.get(path) or path.lstat().st_size for path in deletable),
    )  # fmt: skip


def _judged(entry: Entry, readers: Sequence[Reader]) -> Entry:
    if entry.state != "unknown" or not readers:
        return entry
    obstacles = [reader.obstacle(entry.origin) for reader in readers]
    if not all(obstacles):
        return replace(entry, state="usable")
    return replace(entry, state="other", reason="; ".join(dict.fromkeys(obstacles)))


def _deletable(entries: Iterable[Entry]) -> Iterator[Path]:
    """The files in deletable states, and the indexes that would then refer to none."""
    left: dict[Path, int] = defaultdict(int)
    for entry in entries:
        deletable = STATES[entry.state].deletable
        if deletable:
            yield from entry.paths
        if entry.index is not None:
            left[entry.index] += not (deletable or entry.state == "missing")
    yield from (index for index, number in left.items() if not number)


def _groups(entries: Iterable[Entry]) -> list[Group]:
    grouped: dict[tuple[Origin, StateName], list[Entry]] = defaultdict(list)
    for entry in entries:
        grouped[entry.origin, entry.state].append(entry)
    groups = [
        Group(
            origin, state, own[0].reason if state == "other" else "", len(own),
            sum(entry.size for entry in own), min(entry.written for entry in own),
            max(entry.written for entry in own),
        )
        for (origin, state), own in grouped.items()
    ]  # fmt: skip
    return sorted(groups, key=lambda one: (one.origin.kind != "numba", one.origin, one.state))


def _findings(entries: Iterable[Entry], directory: Path) -> Iterator[Finding]:
    for entry in entries:
        if entry.state not in _OF_GROUPS:
            paths = [_relative(path, directory) for path in entry.paths]
            yield Finding(entry.state, entry.name, entry.reason, paths, entry.size)


def _rank(finding: Finding) -> tuple[int, str, list[str]]:
    return _ORDER[finding.state], finding.name, finding.paths


def _relative(path: Path, directory: Path) -> str:
    return _text(path.relative_to(directory))


def _text(path: Path) -> str:
    # The name of a file may not be valid text, but must be written all the same.
    return str(path).encode(errors="backslashreplace").decode()
