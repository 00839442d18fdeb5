"""Values of many subjects as series: one benchmark on one line of subjects, in order. Pure.

A line has the subjects that one environment measured on one machine of one kind. Where a machine's
processor, system or Python changes, another line begins: values of two lines are never compared.
Hosted machines that change kind from night to night give several lines side by side. Where work was
counted by another source, or for another CPU, another series of the same line begins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from observatory.analyze.series_keys import SeriesKey, origins_of, places_of
from observatory.benchmarks.catalogue import METRICS
from observatory.store.asv.columns import Columns, joined
from observatory.store.reading.parts import Era as Era
from observatory.store.reading.parts import Part, ordered, sorted_part
from observatory.store.reading.read import Results
from observatory.store.records.alerts import SeriesId, cut, line_name, series_on

Numbers = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]
COUNTED = frozenset(name for name, one in METRICS.items() if one.sourced)
"""The metrics whose values depend on what counted them."""


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
        return line_name(*self.key)

    @cached_property
    def key(self) -> tuple[str, str]:
        """Machine and environment as the keys of its series have them."""
        return cut(self.machine), cut(self.env_name)

    @cached_property
    def commits(self) -> frozenset[str]:
        """The commits of its subjects."""
        return frozenset(one.commit for one in self.subjects)


@dataclass(frozen=True, eq=False, slots=True)
class Series:
    """The values of one key on a line, in the order of its subjects.

    Value ``i`` belongs to subject ``line.subjects[at[i]]``; subjects without a value are left out.
    There may be hundreds of thousands of series: each knows only where its values lie, and they are
    read from disk when they are asked for.
    """

    line: Line
    place: SeriesKey
    part: Part
    number: int
    """Its number among the keys of the part."""
    source: str = ""
    """Of work: what counted it, and for which CPU; otherwise empty."""

    @classmethod
    def of(
        cls, line: Line, place: SeriesKey, at: Numbers, values: Floats,
        source: str = "", n: Numbers | None = None,
        ci_low: Floats | None = None, ci_high: Floats | None = None,
    ) -> Series:  # fmt: skip
        """A series of values in memory; of each is known where it is, at least."""
        size = len(values)
        one, unknown = np.zeros(size, np.int32), np.full(size, np.nan)
        columns = Columns(
            one, one, values, one if n is None else n.astype(np.int32),
            unknown if ci_low is None else ci_low, unknown if ci_high is None else ci_high,
        )  # fmt: skip
        part = sorted_part((), np.asarray(at, np.int32), columns, [0, size])
        return cls(line, place, part, 0, source)

    @property
    def _rows(self) -> slice:
        bounds = self.part.bounds
        return slice(bounds[self.number], bounds[self.number + 1])

    @property
    def at(self) -> Numbers:
        """The places of its subjects on the line."""
        return self.part.at[self._rows]

    @property
    def values(self) -> Floats:
        """A value for each subject."""
        return self.part.value[self._rows]

    @property
    def n(self) -> Numbers:
        """The number of samples of each value; 0 if it is not known."""
        return self.part.n[self._rows]

    @property
    def ci_low(self) -> Floats:
        """The lower end of the 99 % interval of each value, NaN where it is not known."""
        return self.part.ci_low[self._rows]

    @property
    def ci_high(self) -> Floats:
        """The upper end."""
        return self.part.ci_high[self._rows]

    def __len__(self) -> int:
        """The number of its values."""
        bounds = self.part.bounds
        return bounds[self.number + 1] - bounds[self.number]

    @property
    def digest(self) -> bytes:
        """A hash of all values, and of what is known of them, without a look at them."""
        found: bytes = self.part.digests[self.number].tobytes()
        return found

    @property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest value, without a look at all."""
        return float(self.part.low[self.number]), float(self.part.high[self.number])

    @property
    def benchmark(self) -> str:
        """The words of the cell, or asv's name of the benchmark with its parameters."""
        place = self.place
        if not place.model:  # results of other projects: a night may have ten thousands of series
            return place.scenario
        return " ".join([word for word in place[:4] if word])

    @property
    def key(self) -> SeriesId:
        """The key of the series in alerts; series of one key on several lines share it."""
        return series_on(self.line.key, self.benchmark, self.place.metric)

    def subject(self, index: int) -> Subject:
        """The subject of a value."""
        return self.line.subjects[int(self.at[index])]

    @property
    def commits(self) -> frozenset[str]:
        """The commits that a change of it may begin at: of work only those with a value."""
        if not self.source:
            return self.line.commits
        return frozenset(self.line.subjects[place].commit for place in self.at.tolist())


@lru_cache(maxsize=1)
def lines_of(results: Results) -> tuple[Line, ...]:
    """Every line, sorted by machine, environment and the date of its first subject.

    They are found once for series and once for runs, of the same results.
    """
    labels = [origin.subject for origin in origins_of(results.files)]
    found: dict[tuple[str, str, Era], list[Subject]] = defaultdict(list)
    for number, (file, label) in enumerate(zip(results.files, labels, strict=True)):
        era = Era.of(file.params, file.python)
        subject = Subject(label, file.commit, file.date, number)
        found[file.machine, file.env_name, era].append(subject)
    lines = [
        Line(*key, tuple(sorted(subjects, key=lambda s: (s.date, s.file))))
        for key, subjects in found.items()
    ]
    return tuple(sorted(lines, key=lambda o: (o.machine, o.env_name, o.subjects[0].date, o.era)))


def series_of(results: Results) -> list[Series]:
    """Every series, sorted by line and then by key in the order of reading."""
    places, place = places_of(results)
    of_work = np.array([bool(one.model) and one.metric in COUNTED for one in places], np.bool_)
    line_of = np.zeros(len(results.files), np.int32)
    lines = lines_of(results)
    for number, line in enumerate(lines):
        line_of[[subject.file for subject in line.subjects]] = number
    parts: dict[int, list[int]] = defaultdict(list)
    for number, part in enumerate(results.parts):
        if len(part.files):
            parts[int(line_of[part.files[0]])].append(number)
    found: list[Series] = []
    for number, line in enumerate(lines):
        own = parts[number]
        each, keys = [results.parts[one] for one in own], [place[one] for one in own]
        if len(own) == 1:
            found += _of_part(line, each[0], keys[0], places, of_work, results)
        elif own:
            found += (one for _, one in _gathered(line, each, keys, places, results))
    return found


def _of_part(
    line: Line, part: Part, keys: Numbers, places: Sequence[SeriesKey],
    of_work: npt.NDArray[np.bool_], results: Results,
) -> list[Series]:  # fmt: skip
    """The series of a line whose values are in one part.

    Most keys are a series: its values lie there as they are needed. Those of several keys that are
    one series, or of work, must be gathered, and are in memory.
    """
    gathered = (np.bincount(keys)[keys] > 1) | of_work[keys]
    alone = np.flatnonzero(~gathered)
    alone = alone[np.argsort(keys[alone])]
    found = [(int(keys[key]), Series(line, places[keys[key]], part, key)) for key in alone.tolist()]
    if gathered.any():
        some = np.flatnonzero(gathered)
        found += _gathered(line, [part.only(some)], [keys[some]], places, results)
        found.sort(key=itemgetter(0))
    return [one for _, one in found]


def _gathered(
    line: Line, parts: Sequence[Part], keys: Sequence[Numbers], places: Sequence[SeriesKey],
    results: Results,
) -> Iterator[tuple[int, Series]]:  # fmt: skip
    """The series of a line whose values must be sorted first, each with the number of its place."""
    index = np.zeros(len(results.files), np.int32)
    index[[subject.file for subject in line.subjects]] = np.arange(len(line.subjects))
    files = np.concatenate([part.file for part in parts])
    at = index[files]
    place = np.concatenate(
        [np.repeat(own, part.lengths) for part, own in zip(parts, keys, strict=True)]
    )
    sources, source = _sources_of(results, files, places, place)
    order = ordered(place, source, at)
    place, source, at = place[order], source[order], at[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(place) != 0) | (np.diff(source) != 0)
    first = np.flatnonzero(new).tolist()
    whole = joined([part.columns for part in parts]).where(order)
    part = sorted_part((), at, whole, [*first, len(order)])
    for number, row in enumerate(first):
        of = int(place[row])
        yield of, Series(line, places[of], part, number, sources[source[row]])


def _sources_of(
    results: Results, files: Numbers, places: Sequence[SeriesKey], place: Numbers
) -> tuple[list[str], Numbers]:
    """What counted work, and for each value the number of what counted it: 0 for all others."""
    known = {"": 0}
    numbers = np.zeros(len(place), np.int32)
    of_work = [i for i, one in enumerate(places) if one.model and one.metric in COUNTED]
    for row in np.flatnonzero(np.isin(place, of_work)):
        counted, one = results.files[files[row]].counted_by, places[place[row]]
        source = counted.get(f"{one.cell} {one.metric}", "")
        numbers[row] = known.setdefault(source, len(known))
    return list(known), numbers
