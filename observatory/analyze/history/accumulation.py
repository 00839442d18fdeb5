"""Many small losses that add up: each too small to count, or accepted by a person. Pure.

The changes of a series are summed from one subject to the next, and the sum never falls below 0: so
it always counts from the last subject that was not undercut (Page's cumulative sums, 1954). A large
change that nobody accepted is another alert's subject, and counting begins again after it. A sum of
MULTIPLE floors is an alert; it is over when less than STILL of that is left, and counting begins
again.

Counts of work change from subject to subject. Of a noisy series only its steps count, which are
large each; its drift is sought by `drift`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from observatory.analyze.comparison.rules import SMALLEST_STEP
from observatory.analyze.history.level_changes import DRIFT, trend_of
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.policy import MINIMUM
from observatory.analyze.history.segments import STILL, SegmentedSeries
from observatory.analyze.history.steps import Values
from observatory.analyze.statements import Loss, Occurrence, Statement, id_of, over_by
from observatory.store.records.alerts import At, Change, SeriesChange, SeriesId, at_of, cut

KIND = f"{DRIFT} in small steps"
MULTIPLE = 5
"""How many floors small losses must add up to: 1 % of work, 10 % of a time."""
_FEWEST = 2
_MOST_SERIES = 500

Accepted = Collection[tuple[SeriesId, str]]
"""Series and first bad commits of the alerts that a person accepted."""


@dataclass(frozen=True)
class Accumulated:
    """The losses of one series that add up to an alert, in their order."""

    change: SeriesChange
    losses: tuple[Loss, ...]
    recovered: At | None


@dataclass
class _Sum:
    """What was added up since the reference: the value before ``start``."""

    start: int = 1
    size: float = 0.0
    """Logarithm of the ratio to the reference."""
    losses: list[Loss] = field(default_factory=list)
    reached: int | None = None
    """Where it was large enough to be an alert."""
    last: int = 0
    """The newest loss."""


def accumulated(
    tracks: Iterable[SegmentedSeries], accepted: Accepted, floors: MachineFloors
) -> Iterator[Accumulated]:
    """The series whose small or accepted losses add up to an alert, once for each time."""
    for track in tracks:
        counted = track.series.place.kind == "near_exact"
        # Where all of several values must differ, a busy disk adds as much as small losses would.
        if (
            counted
            and (rule := floors.rule_of(track.series)).material is not None
            and rule.all_of == 1
        ):
            values = np.maximum(track.series.values, rule.resolution)
            if values.min() > 0:
                # What is smaller is no alert by itself.
                alone = max(rule.sure() - 1, MINIMUM["near_exact"])
                limit, places = MULTIPLE * rule.material, range(1, len(values))
                yield from _sums(track, values, places, alone, limit, accepted)
        elif len(track.steps) >= _FEWEST and track.series.values.min() > 0:
            levels = np.repeat(np.array(track.levels), np.diff(track.bounds))
            steps = track.bounds[1:-1]
            yield from _sums(track, levels, steps, 0.0, MULTIPLE * SMALLEST_STEP, accepted)


def _sums(
    track: SegmentedSeries,
    values: Values,
    places: Sequence[int],
    counts: float,
    alarming: float,
    accepted: Accepted,
) -> Iterator[Accumulated]:
    """``values``: what the series is at each subject; ``places``: where it changes.

    ``counts``: the relative change from which one is not small; ``alarming``: that of the sum.
    """
    least, limit = math.log1p(counts), math.log1p(alarming)
    so_far = _Sum()
    for place in places:
        size = math.log(values[place] / values[place - 1])
        subject = track.series.subject(place)
        known = (track.series.key, subject.commit) in accepted
        if size >= least and not known:
            yield from _found(track, values, so_far, limit)
            so_far = _Sum(place + 1)
            continue
        so_far.size += size
        if so_far.size <= 0 or (so_far.reached is not None and so_far.size < STILL * limit):
            yield from _found(track, values, so_far, limit)
            so_far = _Sum(place + 1)
            continue
        if size > 0:
            so_far.losses.append(Loss(subject.label, math.exp(size), known))
            so_far.last = place
        if so_far.size >= limit and len(so_far.losses) >= _FEWEST and so_far.reached is None:
            so_far.reached = place
    yield from _found(track, values, so_far, limit)


def _found(
    track: SegmentedSeries, values: Values, one: _Sum, limit: float
) -> Iterator[Accumulated]:
    if one.reached is None:
        return
    series = track.series
    machine, env_name, benchmark, metric = series.key
    before = float(values[one.start - 1])
    left = np.log(values[one.reached :] / before) < STILL * limit
    over = one.reached + int(np.argmax(left)) if left.any() else None
    recovered = None if over is None else at_of(series.subject(over))
    shown = series.values if series.place.kind == "near_exact" else values
    change = SeriesChange(
        machine=machine, env_name=env_name, benchmark=benchmark, metric=metric,
        unit=cut(series.place.unit),
        kind="near_exact" if series.place.kind == "near_exact" else "noisy",
        before=float(shown[one.start - 1]), after=float(shown[one.last]), now=float(shown[-1]),
        last_good=at_of(series.subject(one.start - 1)),
        first_bad=at_of(series.subject(one.reached)),
        newest=at_of(series.subject(len(values) - 1)), holds=recovered is None,
    )  # fmt: skip
    yield Accumulated(change, tuple(one.losses), recovered)


def drifts(found: Iterable[Accumulated]) -> Iterator[Occurrence]:
    """The alerts of these series: one for those of a machine whose ranges overlap."""
    clusters: list[list[Accumulated]] = []
    for one in sorted(found, key=lambda one: (_who(one), one.change.first_bad.date)):
        last = clusters[-1] if clusters else []
        if last and _who(last[0]) == _who(one) and _begin(one) < last[-1].change.first_bad.date:
            last.append(one)
        else:
            clusters.append([one])
    for cluster in clusters:
        yield _occurrence(cluster)


def _who(one: Accumulated) -> tuple[str, str, str]:
    return trend_of(one.change), one.change.machine, one.change.env_name


def _begin(one: Accumulated) -> datetime:
    return (one.change.last_good or one.change.first_bad).date


def _occurrence(cluster: Sequence[Accumulated]) -> Occurrence:
    first = cluster[0].change
    word, machine, env_name = _who(cluster[0])
    ordered = sorted(cluster, key=lambda one: -one.change.size)
    most = ordered[0]
    changes = [one.change for one in ordered[:_MOST_SERIES]]
    change = Change(
        id=id_of(KIND, word, machine, env_name, first.first_bad.commit), kind=f"{KIND}: {word}",
        sentence="", last_good=most.change.last_good, first_bad=first.first_bad, between=0,
        series=changes,
    )  # fmt: skip
    statement = Statement("losses added up", (changes, most.losses))
    return Occurrence(change, True, statement, over_by([one.recovered for one in cluster]))
