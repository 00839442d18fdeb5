"""Everything that the pages show, as one input, with look-ups in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import blake2b
from typing import TypeVar

from observatory.analyze.comparison.comparing import Who
from observatory.analyze.comparison.rules import Rule
from observatory.analyze.history.machine_changes import MachineChange
from observatory.analyze.history.newest import SeriesVerdicts, Verdicts
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import Line, Series, Subject
from observatory.analyze.history.suspects import SuspectedRange
from observatory.analyze.moved_alike import TIMES
from observatory.analyze.profiles.cells import CellProfile
from observatory.analyze.sentinel import Look
from observatory.analyze.series_keys import FEWEST_FOR_INTERVAL
from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.shelves import Shelves
from observatory.dashboard.verdict_data import HeadVerdicts
from observatory.store.journal.latest import Note
from observatory.store.reading.compiled import Functions
from observatory.store.reading.fates import Coverage, Fates
from observatory.store.reading.growing import Growing
from observatory.store.reading.parts import Part
from observatory.store.reading.read import ResultFile
from observatory.store.reading.walks import Walks
from observatory.store.records.alerts import Alert, Alerts, SeriesChange, SeriesId, cut
from observatory.store.records.calibration import Calibration
from observatory.store.records.contracts import Contracts
from observatory.store.records.found import NOTHING, Found
from observatory.store.records.settings import Settings
from observatory.store.records.torture import Torture
from observatory.store.records.upgrades import Upgrade
from observatory.text.plain import clean

_Read = TypeVar("_Read")
FAMILY = 4
"""Digits of an id that say which family a series is of."""
Spot = tuple[int, int]
"""The place of a subject: the index of its line, and its own index on the line."""


@dataclass(frozen=True)
class SiteInput:
    """What was read from results directories, and what was concluded. It is never changed.

    ``tracks`` come by line, and then in the order of the vocabulary.
    """

    tracks: Sequence[SegmentedSeries]
    files: Sequence[ResultFile]
    alerts: Alerts
    version: str
    problems: Sequence[str] = ()
    notes: Mapping[tuple[str, str], Sequence[Note]] = field(default_factory=dict)
    """By machine and environment: what failed, disagrees or is absent."""
    measured_at: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    """By subject and machine, when its newest sample was taken."""
    functions: Mapping[tuple[str, str, str], Functions] = field(default_factory=dict)
    """By machine, environment and commit: what was compiled, cell by cell."""
    fates: Mapping[tuple[str, str, str], Fates] = field(default_factory=dict)
    """By machine, environment and commit: what became of each graph that was built apart."""
    coverage: Mapping[tuple[str, str, str], Coverage] = field(default_factory=dict)
    """By the same, which Ops no graph has."""
    walks: Mapping[tuple[str, str, str], Walks] = field(default_factory=dict)
    """By the same, the steps of the path."""
    growth: Mapping[tuple[str, str, str], Growing] = field(default_factory=dict)
    """By the same, what was measured of graphs of growing sizes."""
    calibrations: Sequence[Calibration] = ()
    contracts: Sequence[Contracts] = ()
    """What PyTensor relies on in numba, one record for each numba that it was looked at with."""
    faults: Sequence[Torture] = ()
    """What became of the faults that were put into caches, one record for each subject."""
    upgrades: Sequence[Upgrade] = ()
    settings: Sequence[Settings] = ()
    """What caches do under other settings, one record for each subject on a machine."""
    found: Found = NOTHING
    """Which subject or package changed a value, for some alerts."""
    profiles: Callable[[Who], Mapping[Cell, CellProfile]] = lambda _: {}
    """Reads the profiles of a subject, cell by cell: all of them may not fit into memory."""
    pairs: Mapping[Who, HeadVerdicts[Who]] = field(default_factory=dict)
    """By head: the verdicts of `observatory compare` on it against other saved subjects."""
    machine: str | None = None
    """Whose matrix is shown, if it measured the newest subject."""
    ranges: Mapping[str, SuspectedRange] = field(default_factory=dict)
    """By alert: the commits of its range, or why there are none."""
    machine_changes: Sequence[MachineChange] = ()
    """Where the machine is likely to have changed, and not the code."""
    machine_of: Mapping[str, MachineChange] = field(default_factory=dict)
    """By alert: the likely change of its machine that it may follow from."""
    looks: Sequence[Look] = ()
    """Nights of each machine, by work that never changes."""

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Every line, in the order of the tracks."""
        return tuple({id(one.series.line): one.series.line for one in self.tracks}.values())

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The id of each track: it depends on what the series is, not on what else there is."""
        return tuple(_id(one) for one in self.tracks)

    @cached_property
    def shelves(self) -> Shelves:
        """Which data file each series is in."""
        return Shelves.of_sizes(
            {id_: len(one.series.values) for id_, one in zip(self.ids, self.tracks, strict=True)}
        )

    @cached_property
    def line_numbers(self) -> dict[int, int]:
        """The index of each line, by ``id(line)``."""
        return {id(line): number for number, line in enumerate(self.lines)}

    def line_of(self, track: SegmentedSeries) -> int:
        """The number of a track's line."""
        return self.line_numbers[id(track.series.line)]

    @cached_property
    def by_key(self) -> dict[SeriesId, list[int]]:
        """The indexes of the tracks of each series that alerts name: one for each line."""
        found: dict[SeriesId, list[int]] = {
            one.key: [] for alert in self.alerts.alerts for one in alert.series
        }
        lines = {key[:2] for key in found}
        for number, track in enumerate(self.tracks):
            if track.series.line.key in lines and (key := track.series.key) in found:
                found[key].append(number)
        return {key: numbers for key, numbers in found.items() if numbers}

    def let_go(self) -> None:
        """Take the values that were looked at out of memory: who asks reads them again."""
        for part in self._parts:
            part.let_go()

    @cached_property
    def _parts(self) -> tuple[Part, ...]:
        return tuple({id(one.series.part): one.series.part for one in self.tracks}.values())

    @cached_property
    def alerted(self) -> frozenset[int]:
        """The numbers of the series that alerts name: of many series they are few."""
        return frozenset(number for numbers in self.by_key.values() for number in numbers)

    def alerts_on(self, number: int) -> Sequence[tuple[Alert, SeriesChange]]:
        """The alerts of the series of a number, and what each says of it."""
        if number not in self.alerted:
            return ()
        return self._verdicts.alerts_on(self.tracks[number].series)

    def rule_of(self, track: SegmentedSeries) -> tuple[Rule, int | None]:
        """The rule of a track, and what an exact count should be."""
        return self._verdicts.rule_of(track)

    def verdicts_on(self, track: SegmentedSeries) -> SeriesVerdicts:
        """What was concluded on one of the tracks."""
        return self._verdicts.on(track)

    def machine_change_of(self, track: SegmentedSeries) -> MachineChange | None:
        """The likely change of the machine that took its newest value, if that is a time.

        Such a value cannot be compared with those before.
        """
        if track.series.place.metric not in TIMES:
            return None
        line, newest = track.series.line, track.series.subject(-1)
        return next((o for o in self.machine_changes if o.line is line and o.at == newest), None)

    @cached_property
    def _verdicts(self) -> Verdicts:
        return Verdicts(self.alerts, self.calibrations)

    @cached_property
    def spots(self) -> dict[tuple[str, str, str], Spot]:
        """The place of each subject, by machine, environment (as in series keys) and commit."""
        return {
            (*line.key, subject.commit): (number, place)
            for number, line in enumerate(self.lines)
            for place, subject in enumerate(line.subjects)
        }

    def interval(self, series: Series, index: int) -> tuple[int, float | None, float | None]:
        """The number of samples of a value (0: unknown), and its interval if they are enough."""
        low, high = float(series.ci_low[index]), float(series.ci_high[index])
        n = int(series.n[index])
        has_interval = series.place.kind == "noisy" and n >= FEWEST_FOR_INTERVAL
        if not has_interval or not (math.isfinite(low) and math.isfinite(high)):
            return n, None, None
        return n, low, high

    def versions(self, subject: Subject) -> str:
        """What was measured, as far as it is recorded: "pytensor 3.3.7, numba 0.68.0"."""
        header = self.files[subject.file].header if self.files else None
        if header is None:
            return ""
        packages = (("pytensor", header.versions.pytensor), ("numba", header.versions.numba))
        return ", ".join(f"{name} {clean(version)}" for name, version in packages if version)

    def subject(self, spot: Spot) -> Subject:
        """The subject at a place."""
        return self.lines[spot[0]].subjects[spot[1]]

    def profiles_at(self, spot: Spot) -> Mapping[Cell, CellProfile]:
        """The profiles of the subject at a place."""
        return self.profiles((*self.lines[spot[0]].key, self.subject(spot).commit))

    @cached_property
    def functions_at(self) -> dict[Spot, Functions]:
        """What was compiled, by the place of the subject."""
        return self._by_spot(self.functions)

    @cached_property
    def fates_at(self) -> dict[Spot, Fates]:
        """What became of each graph, by the place of the subject."""
        return self._by_spot(self.fates)

    @cached_property
    def coverage_at(self) -> dict[Spot, Coverage]:
        """Which Ops no graph has, by the place of the subject."""
        return self._by_spot(self.coverage)

    @cached_property
    def walks_at(self) -> dict[Spot, Walks]:
        """The steps of the path, by the place of the subject."""
        return self._by_spot(self.walks)

    @cached_property
    def growth_at(self) -> dict[Spot, Growing]:
        """What was measured of graphs of growing sizes, by the place of the subject."""
        return self._by_spot(self.growth)

    def _by_spot(self, read: Mapping[tuple[str, str, str], _Read]) -> dict[Spot, _Read]:
        found = {
            (cut(machine), cut(env_name), commit): one
            for (machine, env_name, commit), one in read.items()
        }
        return {self.spots[key]: one for key, one in found.items() if key in self.spots}


def spot_name(spot: Spot) -> str:
    """The name of a place in addresses and file names."""
    return f"{spot[0]}-{spot[1]}"


def family_of(series: Series) -> tuple[str, ...]:
    """What is the same of series that are shown together.

    They are one benchmark or scenario, with any parameters and in any environment, and one metric.
    """
    place = series.place
    # Of our own cells the backend and the start method are the parameters.
    benchmark = (place.model, place.scenario) if place.model else place.scenario.partition("(")[:1]
    return (*benchmark, place.metric, place.unit)


def _id(track: SegmentedSeries) -> str:
    """Ids of a family begin with the same digits, so that it is in one data file."""
    series = track.series
    words = (*series.key, str(series.line.era), *filter(None, (series.source,)))
    return _hash(family_of(series), FAMILY // 2) + _hash(words, 4)


def _hash(words: Sequence[str], size: int) -> str:
    return blake2b("\0".join(words).encode(errors="replace"), digest_size=size).hexdigest()
