"""All changes along the histories of one results directory. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from itertools import pairwise

from observatory.analyze.comparison.beginnings import where_it_begins, where_work_begins
from observatory.analyze.comparison.comparing import Who
from observatory.analyze.comparison.ledgers import REUSE_LOST
from observatory.analyze.history.accumulation import accumulated, drifts
from observatory.analyze.history.alerts import AlertContext, FoundAlert, update_alerts
from observatory.analyze.history.exact_changes import counted_changes
from observatory.analyze.history.followed import History
from observatory.analyze.history.followers import (
    FOLLOW_COUNTS,
    FOLLOW_WORK,
    with_felt,
    with_followers,
)
from observatory.analyze.history.level_changes import gathered, judge_series
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.part_changes import CALLS, PART, PartChanges
from observatory.analyze.history.policy import Assessed, assess
from observatory.analyze.history.recorded import Recorded, Run
from observatory.analyze.history.segments import SegmentedSeries, Tracks
from observatory.analyze.history.series import Line
from observatory.analyze.history.work_changes import work_changes
from observatory.analyze.statements import Occurrence, Statement, over_by
from observatory.benchmarks.catalogue import (
    OF_WORK,
    Cell,
)
from observatory.store.records.alerts import Alerts, SeriesChange, SeriesId
from observatory.store.records.sample import Sample

_EXPLAINED = 8
"""Changes of work, and of times and memory, that are explained, at most: each reads the profiles of
some subjects."""
_NEIGHBOURS = 4
"""Subjects on each side of a step of which the samples say where it begins: one has too few."""
_WORDS = len(fields(Cell))
"""The words of a benchmark of ours, which name its cell."""


@dataclass(frozen=True)
class Histories:
    """Everything that is searched for changes: noisy series, exact counts and newest runs."""

    tracks: Sequence[SegmentedSeries]
    histories: Iterable[History]
    """An iterable that is consumed once, one subject at a time."""
    runs: Sequence[Run]
    last_good: datetime | None = None
    """When a sample of the newest run without a failure was taken."""
    samples: Callable[[Who], Sequence[Sample]] = lambda _: ()
    """The samples of one subject, of which the profiles are needed. Reading them takes a while."""
    without_series: Sequence[Occurrence] = ()
    """What other records say: see `fault_changes` and `settings_changes`."""
    records: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """The records that these follow from: see `fault_records`."""
    unread: frozenset[str] = frozenset()
    """Machines of which something could not be read: what is not seen there may still hold."""
    floors: MachineFloors = field(default_factory=MachineFloors)


@dataclass(frozen=True)
class Detected:
    """Everything found in histories. `observatory.text.records` makes the record of it."""

    newest: datetime | None
    """When the newest sample was taken; None where there is none."""
    until: datetime | None
    """The date of the newest subject of any series; None without series."""
    last_good: datetime | None
    judged: int
    """Noisy series that were judged."""
    compared: int
    """Pairs of subjects whose counts were compared."""
    alerts: Sequence[FoundAlert]
    improvements: Sequence[Occurrence]
    smaller: Sequence[tuple[Occurrence, Assessed]]
    """Changes that are not alerts, the newest first."""
    unjudged: Mapping[Statement, Sequence[str]]
    """The names of the series that were not judged, by reason."""
    environments: Sequence[Statement]
    orphans: Sequence[str]
    """Ids that were acknowledged and belong to no alert."""


def detect_changes(given: Histories, context: AlertContext) -> Detected:
    """Find every change of the histories, and the state of the alerts that follow from them.

    Alerts that need a person come first, and of improvements the newest.
    """
    series = [track.series for track in given.tracks]
    judged = judge_series(given.tracks)
    parts, counted = [], []
    for history in given.histories:  # each is read once, while the next one waits
        parts.append(PartChanges(history, given.floors))
        counted.append(counted_changes(parts[-1].watched()))
    exact = _across_machines(one for occurrences, _ in counted for one in occurrences)
    exact = [one for one in exact if not _known_elsewhere(one, exact)]
    moved = [*judged.moved, *(one for of in series for one in work_changes(of, given.floors))]
    exact, left = with_followers(exact, moved, FOLLOW_COUNTS)
    near = [one for one in left if one.change.kind == "near_exact"]
    times = [one for one in left if one.change.kind == "noisy"]
    work, left = with_followers(gathered(near), times, FOLLOW_WORK)
    tracks = Tracks(given.tracks)
    found = [
        *with_felt(exact, tracks, FOLLOW_COUNTS),
        *_with_beginnings(
            with_felt(work, tracks, FOLLOW_WORK), lambda changed: _begins(changed, given.samples)
        ),
        *_with_beginnings(
            gathered(left), lambda changed: _step_begins(changed, tracks, given.samples)
        ),
        *_across_machines(one for history in parts for one in history.occurrences()),
        *given.without_series,
    ]
    lines = list({id(one.line): one.line for one in series}.values())
    positions: dict[tuple[str, str], list[dict[str, int]]] = defaultdict(list)
    for line in lines:
        positions[line.key].append({one.commit: place for place, one in enumerate(line.subjects)})
    keys: set[SeriesId] = set()
    if context.previous is not None:  # nobody asks for them without alerts before
        keys = set(tracks.keys)
        keys |= {(*one.key[:3], REUSE_LOST) for one in series if one.place.model}
        keys |= _parts_of(context.previous, keys)
    recorded = Recorded(
        tuple(given.runs), frozenset(keys), positions, given.unread, given.records, tracks.values
    )
    better = [one for one in found if not one.worse]
    worse, smaller = _sorted_out(found, recorded, context.previous)
    small = [one for one, _ in smaller]
    alerts = _with_drifts(worse, small, given, recorded, context)
    acknowledged = {one.id for one in context.triage.acknowledged}
    return Detected(
        newest=recorded.newest,
        until=max((line.subjects[-1].date for line in lines), default=None),
        last_good=given.last_good,
        judged=judged.judged,
        compared=sum(compared for _, compared in counted),
        alerts=alerts,
        improvements=sorted(better, key=lambda one: one.change.first_bad.date, reverse=True),
        smaller=sorted(smaller, key=lambda one: one[0].change.first_bad.date, reverse=True),
        unjudged=judged.unjudged,
        environments=list(_environments(lines)),
        orphans=sorted(acknowledged - {one.alert.id for one in alerts}),
    )


def _parts_of(before: Alerts, keys: Collection[SeriesId]) -> set[SeriesId]:
    """The counts of parts that alerts before are about, of cells whose calls are counted."""
    return {
        series.key
        for alert in before.alerts if alert.kind == PART
        for series in alert.series
        if (*series.key[:3], CALLS.name) in keys
    }  # fmt: skip


def _sorted_out(
    found: Iterable[Occurrence], recorded: Recorded, before: Alerts | None
) -> tuple[list[Occurrence], list[tuple[Occurrence, Assessed]]]:
    """The changes for the worse that are alerts, and those that are not, with the reason."""
    alerts: list[Occurrence] = []
    smaller: list[tuple[Occurrence, Assessed]] = []
    for one in found:
        if one.worse:
            told = before is not None and recorded.told(one, before.alerts)
            assessed = assess(one, told=told, first=before is None)
            if assessed.reason is None:
                alerts.append(one)
            else:
                smaller.append((one, assessed))
    return alerts, smaller


def _with_drifts(
    found: Sequence[Occurrence],
    small: Sequence[Occurrence],
    given: Histories,
    recorded: Recorded,
    context: AlertContext,
) -> list[FoundAlert]:
    """The alerts, and those on small losses that add up, accepted ones among them."""
    alerts = update_alerts(found, recorded, context, small)
    accepted = {
        (series.key, series.first_bad.commit)
        for one in alerts if one.alert.state == "acknowledged"
        for series in one.alert.series
    }  # fmt: skip
    further = list(drifts(accumulated(given.tracks, accepted, given.floors)))
    every = [*found, *further]
    return update_alerts(every, recorded, context, small) if further else alerts


def _across_machines(exact: Iterable[Occurrence]) -> list[Occurrence]:
    """Unite the changes that several machines or environments share: each is over when all are.

    Changes of one machine and environment stay apart: they have different causes.
    """
    united: list[Occurrence] = []
    for one in exact:
        for number, earlier in enumerate(united):
            if earlier.change.id == one.change.id and _places(earlier).isdisjoint(_places(one)):
                both = [*earlier.change.series, *one.change.series]
                change = earlier.change.model_copy(update={"series": both})
                done = over_by([earlier.recovered, one.recovered])
                united[number] = replace(earlier, change=change, recovered=done)
                break
        else:
            united.append(one)
    return united


def _known_elsewhere(one: Occurrence, every: Iterable[Occurrence]) -> bool:
    """Whether it was wrong from the first, and another machine says of its cells that they are."""
    if one.change.last_good is not None:
        return False
    known = {
        (series.benchmark, series.metric)
        for other in every
        if other.worse and other is not one and _places(other).isdisjoint(_places(one))
        for series in other.change.series
        if series.holds and (other.change.last_good or _before(other, one))
    }
    return known.issuperset((series.benchmark, series.metric) for series in one.change.series)


def _before(other: Occurrence, one: Occurrence) -> bool:
    ends = [(each.change.first_bad.date, each.change.id) for each in (other, one)]
    return ends[0] < ends[1]


def _places(one: Occurrence) -> set[tuple[str, str]]:
    return {(series.machine, series.env_name) for series in one.change.series}


def _with_beginnings(
    found: Iterable[Occurrence], begins_of: Callable[[Sequence[SeriesChange]], Statement | None]
) -> Iterator[Occurrence]:
    """Changes, and of some where the additional work, time or memory begins.

    Those that hold come first, then those that are over; of both the newest.
    """
    every = list(found)
    worse = [one for one in every if one.worse]
    worse.sort(key=lambda one: (one.recovered is None, one.change.first_bad.date))
    explained = {one.change.id for one in worse[-_EXPLAINED:]}
    for one in every:
        begins = begins_of(one.change.series) if one.change.id in explained else None
        if begins is not None:
            values = (*one.statement.values, begins)
            yield replace(one, statement=Statement(one.statement.kind, values))
        else:
            yield one


def _begins(
    series: Iterable[SeriesChange], samples: Callable[[Who], Sequence[Sample]]
) -> Statement | None:
    """Where the work of the first of these series begins of which both sides have a profile."""
    for one in series:
        words = one.benchmark.split()
        if one.metric not in OF_WORK or one.last_good is None or len(words) != _WORDS:
            continue
        sides = (samples((one.machine, one.env_name, at.commit))
                 for at in (one.last_good, one.first_bad))  # fmt: skip
        if (found := where_work_begins(Cell(*words), one.metric, *sides)) is not None:
            return found
    return None


def _step_begins(
    series: Iterable[SeriesChange],
    tracks: Tracks,
    samples: Callable[[Who], Sequence[Sample]],
) -> Statement | None:
    """Where the first of these steps begins of which both levels have profiles."""
    for one in series:
        words, track = one.benchmark.split(), tracks.at(one.key, one.first_bad.commit)
        if one.kind != "noisy" or one.last_good is None or track is None or len(words) != _WORDS:
            continue
        sides = ([sample for commit in commits
                  for sample in samples((one.machine, one.env_name, commit))]
                 for commits in _beside(track, one.first_bad.commit))  # fmt: skip
        if (found := where_it_begins(Cell(*words), one.metric, *sides)) is not None:
            return found
    return None


def _beside(track: SegmentedSeries, first_bad: str) -> tuple[list[str], list[str]]:
    """The commits next to a step, of its levels before and after it."""
    commits = [track.series.subject(place).commit for place in range(len(track.series.values))]
    for before, at, after in zip(track.bounds, track.bounds[1:], track.bounds[2:], strict=False):
        if commits[at] == first_bad:
            return commits[before:at][-_NEIGHBOURS:], commits[at:after][:_NEIGHBOURS]
    return [], []


def _environments(lines: Iterable[Line]) -> Iterator[Statement]:
    """Where a machine or its Python changed, for good or in turn: times are not compared there."""
    found: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in sorted(lines, key=lambda o: o.subjects[0].date):
        found[line.machine, line.env_name].append(line)
    for before, after in (pair for one_by_one in found.values() for pair in pairwise(one_by_one)):
        ends, begins = before.subjects[-1], after.subjects[0]
        values = before.name, before.era, after.era
        if ends.date < begins.date:
            yield Statement("environment changed", (*values, ends.label, begins.label))
        else:
            yield Statement("environments alternate", values)
