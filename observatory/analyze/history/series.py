"""Values of many subjects as series: one benchmark on one line of subjects, in order. Pure.

A line has the subjects that one environment measured on one machine of one kind. Where a machine's
processor, system or Python changes, another line begins: values of two lines are never compared.
Hosted machines that change kind from night to night give several lines side by side. Where work was
counted by another source, or for another CPU, another series of the same line begins.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from observatory.analyze.series_keys import SeriesKey, origins_of, places_of
from observatory.benchmarks.catalogue import METRICS
from observatory.store.reading.read import Results
from observatory.store.records.alerts import SeriesId, cut, series_id

Numbers = npt.NDArray[np.integer]
WORK = frozenset(name for name, one in METRICS.items() if one.measure == "work")
"""The metrics whose values depend on what counted them."""
_RELEASE = re.compile(r"^(\D*\d+\.\d+).*", re.DOTALL)


class Era(NamedTuple):
    """The kind of a machine, in asv's words, and the minor version of Python."""

    cpu: str
    num_cpu: str
    arch: str
    os: str
    python: str

    def __str__(self) -> str:
        words = [self.cpu, self.num_cpu and f"{self.num_cpu} CPUs", self.arch, self.os]
        return ", ".join([word for word in words if word] + [f"Python {self.python}"])


@dataclass(frozen=True)
class Subject:
    """One subject of a line."""

    label: str
    commit: str
    date: datetime
    file: int
    """Its number among the files that were read."""


@dataclass(frozen=True)
class Line:
    """The subjects of one machine and environment in one era, oldest first."""

    machine: str
    env_name: str
    era: Era
    subjects: tuple[Subject, ...]

    @property
    def name(self) -> str:
        """Machine and environment."""
        return f"{self.machine}, {self.env_name}" if self.env_name else self.machine

    @property
    def key(self) -> tuple[str, str]:
        """Machine and environment as the keys of its series have them."""
        return cut(self.machine), cut(self.env_name)


@dataclass(frozen=True, eq=False)
class Series:
    """The values of one key on a line, in the order of its subjects.

    Value ``i`` belongs to subject ``line.subjects[at[i]]``; subjects without a value are left out.
    Its interval and number of samples are item ``rows[i]`` of the columns that were read.
    """

    line: Line
    place: SeriesKey
    at: Numbers
    values: npt.NDArray[np.float64]
    rows: Numbers = field(default_factory=lambda: np.empty(0, np.int32))
    source: str = ""
    """Of work: what counted it, and for which CPU; otherwise empty."""

    @cached_property
    def benchmark(self) -> str:
        """The words of the cell, or asv's name of the benchmark with its parameters."""
        return " ".join(word for word in self.place[:4] if word)

    @cached_property
    def key(self) -> SeriesId:
        """The key of the series in alerts; series of one key on several lines share it."""
        return series_id(self.line.machine, self.line.env_name, self.benchmark, self.place.metric)

    def subject(self, index: int) -> Subject:
        """The subject of a value."""
        return self.line.subjects[int(self.at[index])]

    @cached_property
    def commits(self) -> frozenset[str]:
        """The commits that a change of it may begin at: of work only those with a value."""
        every = self.line.subjects
        return frozenset(o.commit for o in ([every[i] for i in self.at] if self.source else every))


def lines_of(results: Results) -> list[Line]:
    """Every line, sorted by machine, environment and the date of its first subject."""
    labels = [origin.subject for origin in origins_of(results.files)]
    found: dict[tuple[str, str, Era], list[Subject]] = defaultdict(list)
    for number, (file, label) in enumerate(zip(results.files, labels, strict=True)):
        cpu, cpus, arch, system = (file.params.get(k, "") for k in ("cpu", "num_cpu", "arch", "os"))
        # Patch versions of the system do not change the era.
        era = Era(cpu, cpus, arch, _RELEASE.sub(r"\1", system), file.python)
        subject = Subject(label, file.commit, file.date, number)
        found[file.machine, file.env_name, era].append(subject)
    lines = [
        Line(*key, tuple(sorted(subjects, key=lambda s: (s.date, s.file))))
        for key, subjects in found.items()
    ]
    return sorted(lines, key=lambda o: (o.machine, o.env_name, o.subjects[0].date, o.era))


def series_of(results: Results) -> list[Series]:
    """Every series, sorted by line and then by key in the order of reading."""
    lines = lines_of(results)
    places, place = places_of(results)
    line_of, position_of = (np.zeros(len(results.files), np.int32) for _ in range(2))
    for number, one in enumerate(lines):
        for index, subject in enumerate(one.subjects):
            line_of[subject.file], position_of[subject.file] = number, index
    line, position = line_of[results.file], position_of[results.file]
    sources, source = _sources_of(results, places, place)
    order = _order(line, place, source, position)
    new = np.zeros(len(order), np.bool_)
    new[:1] = True
    for column in (line, place, source):
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(new)
    keys = np.stack([column[order[starts]] for column in (line, place, source)])
    values, position = results.values.value[order], position[order]
    rows = order.astype(np.int32)
    return [
        Series(
            lines[line_at], places[place_at],
            position[start:stop], values[start:stop], rows[start:stop], sources[source_at],
        )
        for (start, stop), (line_at, place_at, source_at) in zip(
            pairwise([*starts.tolist(), len(order)]), keys.T.tolist(), strict=True
        )
    ]  # fmt: skip


def _order(*columns: Numbers) -> Numbers:
    """The order by these columns, the first one first; equal rows stay in the order they have.

    As one number for each row: files are read in almost this order, which one sort can use.
    """
    key = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        size = int(column.max(initial=0)) + 1
        if key.max(initial=0) >= np.iinfo(np.int64).max // size - 1:
            return np.lexsort(columns[::-1])  # too many for one number
        key = key * size + column
    return np.argsort(key, kind="stable")


def _sources_of(
    results: Results, places: list[SeriesKey], place: Numbers
) -> tuple[list[str], Numbers]:
    """What counted work, and for each value the number of what counted it: 0 for all others."""
    known = {"": 0}
    numbers = np.zeros(len(place), np.int32)
    of_work = [i for i, one in enumerate(places) if one.model and one.metric in WORK]
    for row in np.flatnonzero(np.isin(place, of_work)):
        counted = results.files[results.file[row]].counted_by
        source = counted.get(str(places[place[row]].cell), "")
        numbers[row] = known.setdefault(source, len(known))
    return list(known), numbers
