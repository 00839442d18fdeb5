"""Reading a results directory without asv: ours, or that of any project with asv result files.

Everything here may come from strangers: sizes are bounded, shapes are checked, and what is broken
is named and skipped. With a cache, what has not changed since is not parsed again.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from observatory.store.asv import result
from observatory.store.asv.columns import Columns, Ints, Series, SeriesList, joined
from observatory.store.asv.listing import LARGEST_FILE, SMALLER, Listed, listing
from observatory.store.asv.result import Head
from observatory.store.base.decode import NotJsonError, decoded
from observatory.store.base.files import read_bounded
from observatory.store.base.problems import Problem, RecordError
from observatory.store.journal.ledgers import LedgerStore
from observatory.store.journal.models import JournalHeader
from observatory.store.reading.cache import Cache, Made
from observatory.store.reading.parts import Era, Part, line_of, merged
from observatory.store.reading.summaries import NOTHING, JournalSummary, journal_of
from observatory.store.records import layout

_LONGEST_WORD = 100
_MOST_PROBLEMS = 100
_Place: TypeAlias = tuple[str, str, str]
"""Machine, environment and commit: what a result file, or a journal, is of."""


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One asv result file, and the header of the journal that it was made from, if there is one."""

    path: Path
    machine: str
    commit: str
    env_name: str
    date: datetime
    python: str
    params: Mapping[str, str]
    header: JournalHeader | None
    counted_by: Mapping[str, str] = field(default_factory=dict)
    """What counted work, by cell and metric: counts of two sources are never compared."""


@dataclass(frozen=True)
class Described:
    """What ``benchmarks.json`` says of one benchmark."""

    unit: str
    type: str


@dataclass(frozen=True, eq=False)
class Results:
    """A results directory: files sorted by path, their values, and what is broken.

    The values of a part are of ``files[part.file[i]]`` and of ``series[part.series[k]]``.
    """

    files: tuple[ResultFile, ...] = ()
    series: tuple[Series, ...] = ()
    parts: tuple[Part, ...] = ()
    benchmarks: Mapping[str, Described] = field(default_factory=dict)
    journals: Mapping[Path, JournalSummary] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    unread: tuple[Path, ...] = ()
    """Files and directories of which nothing could be read; ``problems`` says why."""

    @cached_property
    def values(self) -> Columns:
        """The values of all parts, one after the other: they are read from disk for that."""
        return joined([part.columns for part in self.parts])

    @cached_property
    def file(self) -> Ints:
        """For each of the values the number of its file."""
        return np.concatenate([np.empty(0, np.int32), *(part.file for part in self.parts)])


def read_results(directory: Path, cache: Path | None = None) -> Results:
    """Read every result file and journal; broken ones are among the problems.

    ``cache`` is a directory for what was parsed; see `cache.directory_for`. Raises RecordError only
    if there is no such directory as ``directory``.
    """
    layout.check_there(directory)
    return _Reading(directory, cache).results()


def united(parts: Sequence[Results]) -> Results:
    """The results of several directories as if they were in one.

    What a machine measured of a subject in one environment is taken from the first directory that
    has values of it, with its journal; the others are named. Where no directory has values, the
    first journal counts.
    """
    if len(parts) == 1:
        return parts[0]
    files: list[ResultFile] = []
    series: list[Series] = []
    values: list[Part] = []
    problems: list[Problem] = []
    taken: dict[_Place, tuple[Results, Path]] = {}
    for part in parts:
        owner = np.full(len(part.files), -1, np.int32)
        for number, one in enumerate(part.files):
            place = one.machine, one.env_name, one.commit
            if place in taken:
                first = taken[place][1]
                reason = f"{first} is of the same subject, machine and environment: not used"
                problems.append(Problem(one.path, reason))
                continue
            taken[place] = part, one.path
            owner[number] = len(files)
            files.append(one)
        values += (_owned(each, owner, len(series)) for each in part.parts)
        series += part.series
        problems += part.problems
    journals = {
        path: one
        for part in parts
        for path, one in part.journals.items()
        if one.header is None or taken.setdefault(_place(one.header), (part, path))[0] is part
    }
    return Results(
        tuple(files), tuple(series), tuple(values),
        {name: one for part in reversed(parts) for name, one in part.benchmarks.items()},
        journals, tuple(problems), tuple(path for part in parts for path in part.unread),
    )  # fmt: skip


def _place(header: JournalHeader) -> _Place:
    return header.machine.machine, header.subject.env_name, header.subject.commit


def without(results: Results, dropped: Callable[[ResultFile], bool]) -> Results:
    """The results without some files; no series is left out."""
    stays = [not dropped(one) for one in results.files]
    if all(stays):
        return results
    owner = np.where(stays, np.cumsum(stays) - 1, -1).astype(np.int32)
    return replace(
        results,
        files=tuple(one for one, keep in zip(results.files, stays, strict=True) if keep),
        parts=tuple(_owned(each, owner, 0) for each in results.parts),
    )


def _owned(part: Part, owner: Ints, offset: int) -> Part:
    """A part whose file ``i`` is called ``owner[i]``, without those of -1; series count on."""
    files = owner[part.files]
    found = replace(part, files=files, series=part.series + np.int32(offset))
    return found if (files >= 0).all() else merged(files[files >= 0].tolist(), [found])


class _Reading:
    """One reading of a results directory."""

    def __init__(self, directory: Path, cache: Path | None) -> None:
        self._directory = directory
        self._series = SeriesList()
        self._cache = Cache(cache, self._series)
        self._problems: list[Problem] = []
        self._unread: list[Path] = []

    def results(self) -> Results:
        there = listing(self._directory)
        self._problems += there.problems
        self._unread += (problem.path for problem in there.problems)
        ledgers = LedgerStore(self._directory / layout.LEDGERS)
        journals = {
            path: JournalSummary.kept(head)
            for path, head, _ in self._read(there.journals, lambda path: journal_of(path, ledgers))
        }
        files: list[ResultFile] = []
        parts: list[Part] = []
        # One directory at a time: the values of all may not fit into memory.
        for _, there_too in groupby(there.results, key=lambda one: one.path.parent):
            parts += self._parts(list(there_too), files, journals)
        journals = {path: one for path, one in journals.items() if not one.is_of_a_crossing}
        benchmarks = {
            name: Described(*words)
            for _, head, _ in self._read(there.benchmarks, benchmarks_of)
            for name, words in head.items()
        }
        self._cache.close()
        return Results(
            tuple(files), tuple(self._series.all), tuple(parts), benchmarks, journals,
            tuple(self._problems), tuple(self._unread),
        )  # fmt: skip

    def _parts(
        self, listed: Sequence[Listed], files: list[ResultFile],
        journals: Mapping[Path, JournalSummary],
    ) -> Iterator[Part]:  # fmt: skip
        """The parts of the result files of one directory, which are added to ``files``."""

        def parse(path: Path) -> Made:
            return result_of(path, self._series)

        directory = str(listed[0].key.rpartition(b"/")[0])
        lines: dict[tuple[str, str, str, Era], list[tuple[int, int, Path]]] = defaultdict(list)
        for path, head, entry in self._read(listed, parse):
            beside = layout.journal_beside(self._directory, path) if journals else path
            if beside in journals and journals[beside].is_of_a_crossing:
                continue
            one = self._file(path, Head(*head), journals.get(beside), beside)
            line = directory, *line_of(one.machine, Head(*head))
            lines[line].append((entry, len(files), path))
            files.append(one)
            if self._cache.full:
                for line, own in lines.items():
                    self._cache.put_aside(line, own)
        for line, own in lines.items():
            own.sort(key=lambda file: (files[file[1]].date, file[1]))
            yield self._cache.part(line, own, parse)

    def _read(
        self, there: Sequence[Listed], parse: Callable[[Path], Made]
    ) -> Iterator[tuple[Path, Any, int]]:
        """Path, head and number of each file that can be read."""
        for listed in there:
            try:
                number = self._cache.get(listed, parse)
            except RecordError as error:
                self._problems.append(Problem(listed.path, str(error)))
                self._unread.append(listed.path)
                continue
            except OSError as error:
                reason = f"it cannot be read: {error.strerror}"
                self._problems.append(Problem(listed.path, reason))
                self._unread.append(listed.path)
                continue
            entry = self._cache.entries[number]
            self._problems += [Problem(listed.path, *problem) for problem in entry.problems]
            if entry.head is not None:
                yield listed.path, entry.head, number
            else:
                self._unread.append(listed.path)

    def _file(
        self, path: Path, head: Head, summary: JournalSummary | None, journal: Path
    ) -> ResultFile:
        summary = self._checked(path, head.commit, summary, journal)
        return ResultFile(
            path=path,
            machine=head.machine or os.fsencode(path.parent.name).decode(errors="replace"),
            commit=head.commit,
            env_name=head.env_name,
            date=datetime.fromtimestamp(head.date / 1000, UTC),
            python=head.python,
            params=head.params,
            header=summary.header,
            counted_by=summary.counted_by,
        )

    def _checked(
        self, path: Path, commit: str, summary: JournalSummary | None, journal: Path
    ) -> JournalSummary:
        """The summary of the journal that a result file was made from; one of nothing without."""
        if summary is None:
            return NOTHING
        header = summary.header
        if header is None:
            reason = f"it has no whole header to say what {path.name} is of"
            self._problems.append(Problem(journal, reason))
        elif header.subject.commit != commit:
            reason = f"it is of another commit than {path.name}: not used"
            self._problems.append(Problem(journal, reason))
            return NOTHING
        return summary


def result_of(path: Path, series: SeriesList) -> Made:
    """What is kept of a result file: its head and its values. Raises RecordError, OSError."""
    found = result.parse(_content(path), series)
    head = None if found.head is None else list(found.head)
    return Made(head, [(reason, None) for reason in found.problems], found.columns)


def benchmarks_of(path: Path) -> Made:
    """Unit and type of each benchmark in ``benchmarks.json``. Raises RecordError, OSError."""
    try:
        loaded = decoded(_content(path))
    except NotJsonError as error:
        return Made(None, [(str(error), None)])
    if not isinstance(loaded, dict):
        return Made(None, [("it is not a JSON object of benchmarks", None)])
    described, odd = {}, []
    for name, entry in loaded.items():
        if isinstance(entry, dict):
            words = (entry.get("unit"), entry.get("type"))
            described[name] = [w[:_LONGEST_WORD] if isinstance(w, str) else "" for w in words]
        elif name != "version":
            odd.append((f"benchmark {name[:200]!r} is not an object; its unit is unknown", None))
    return Made(described, odd[:_MOST_PROBLEMS])


def _content(path: Path) -> bytes:
    return read_bounded(path, LARGEST_FILE, SMALLER) or b""
