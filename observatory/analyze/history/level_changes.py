"""Steps and drifts of noisy series; series that moved together are one change. Pure.

The cause of a time is unknown, but building, calling, importing and memory are separate, because
they have different causes. A step is located to within a subject or two: steps of one direction
that may be at the same subject are one change.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from observatory.analyze.history.segments import STILL, Alerted, SegmentedSeries
from observatory.analyze.history.series import Series
from observatory.analyze.history.steps import Step, ratio
from observatory.analyze.history.unwatched import names_of, without_history
from observatory.analyze.statements import Occurrence, Statement, id_of, over_by
from observatory.benchmarks.catalogue import METRICS
from observatory.store.records.alerts import Alerts, At, Change, SeriesChange, at_of, cut

DRIFT = "slow drift"
_MOST_SERIES = 500
_AT_ONCE = 1000
"""Series whose values may be in memory at once."""
_TRENDS = {
    **{name: one.trend for name, one in METRICS.items() if one.trend is not None},
    **dict.fromkeys(("time", "timeraw"), ("slower", "faster")),
    **dict.fromkeys(("memory", "peakmemory"), ("more memory", "less memory")),
}
"""The words for worse and better by metric, or by asv's type of a benchmark."""


@dataclass(frozen=True)
class LevelChange:
    """A step or a drift of one series."""

    change: SeriesChange
    drifting: bool
    recovered: At | None
    """The first subject of the level at which a step no longer holds."""
    between: int
    """The number of subjects of its line between last good and first bad."""
    within: tuple[datetime, datetime]
    """The dates between which it lies, with one more subject on either side."""


@dataclass
class LevelChanges:
    """The steps and drifts of noisy series, and the series that could not be judged."""

    moved: list[LevelChange] = field(default_factory=list)
    judged: int = 0
    unjudged: dict[Statement, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The names of series by the reason for which they were not judged."""


def judge_series(tracks: Iterable[SegmentedSeries]) -> LevelChanges:
    """The steps and drifts of every noisy series that is judged, and what could not be judged."""
    found, every = LevelChanges(), list(tracks)
    new = without_history([track.series for track in every])
    if new:
        names = names_of(new, [track.series for track in every])
        found.unjudged[Statement("no earlier value", (names,))] = [*map(_name, new)]
    told = {id(one) for one in new}
    for number, track in enumerate(every):
        if number % _AT_ONCE == 0:
            track.series.part.let_go()
        if id(track.series) in told:
            continue
        if track.judgement == "unfit" and track.reason is not None:
            found.unjudged[track.reason].append(_name(track.series))
        elif track.judgement == "judged":
            found.judged += 1
            if track.drift is not None or len(track.bounds) > 2:  # most series have neither
                found.moved += _moved(track)
    return found


def alerted_steps(before: Alerts | None) -> list[Alerted]:
    """The steps that alerts said before and that were not over."""
    return [
        (series.key, series.first_bad.commit)
        for alert in (before.alerts if before else ())
        if alert.state != "resolved" and not alert.kind.startswith(DRIFT)
        for series in alert.series
        if series.kind == "noisy" and series.holds
    ]


def _name(series: Series) -> str:
    return f"{series.benchmark} {series.place.metric} on {series.line.name}"


def trend_of(change: SeriesChange) -> str:
    """The words for what a series did: "slower to build"."""
    return _TRENDS.get(change.metric, ("higher", "lower"))[0 if change.worse else 1]


def _moved(track: SegmentedSeries) -> Iterator[LevelChange]:
    series, values, drift = track.series, track.flat, track.drift
    if drift is not None:
        # A drift begins at no subject, and is never over by itself.
        whole = Step(1, *track.longest, drift.ratio, drift.low, drift.high)
        change = _series_change(track, whole).model_copy(update={"last_good": None})
        yield LevelChange(change, True, None, *_where(series, 1))
    levels = [values[start:stop] for start, stop in pairwise(track.bounds)]
    for number, step in enumerate(track.steps):
        size = math.log(step.ratio)
        left = (math.log(ratio(levels[number], later)) for later in levels[number + 1 :])
        over = next((n for n, one in enumerate(left) if not size or one / size < STILL), None)
        recovered = None if over is None else at_of(series.subject(track.bounds[number + 1 + over]))
        change = _series_change(track, step).model_copy(update={"holds": over is None})
        yield LevelChange(change, False, recovered, *_where(series, step.index))


def _where(series: Series, place: int) -> tuple[int, tuple[datetime, datetime]]:
    """The number of subjects between the two at a place, and the dates of those one further out."""
    first, last = int(series.at[place - 1]), int(series.at[place])
    subjects = series.line.subjects
    before, after = subjects[max(first - 1, 0)], subjects[min(last + 1, len(subjects) - 1)]
    return last - first - 1, (before.date, after.date)


def _series_change(track: SegmentedSeries, step: Step) -> SeriesChange:
    series = track.series
    machine, env_name, benchmark, metric = series.key
    return SeriesChange(
        machine=machine, env_name=env_name, benchmark=benchmark, metric=metric,
        unit=cut(series.place.unit), kind="noisy",
        before=step.before, after=step.after, now=track.now,
        ratio=step.ratio, low=_known(step.low), high=_known(step.high), modes=step.modes,
        last_good=at_of(series.subject(step.index - 1)),
        first_bad=at_of(series.subject(step.index)),
        newest=at_of(series.subject(len(series.values) - 1)), holds=True,
    )  # fmt: skip


def _known(end: float) -> float | None:
    return None if math.isnan(end) else end


def gathered(moved: Iterable[LevelChange]) -> Iterator[Occurrence]:
    """The changes of the series in ``moved``: one for all that may be at the same subject.

    Only series of one family and direction come together. A drift begins at no subject: all drifts
    of one machine and environment are one change.
    """
    groups: dict[tuple[str, ...], list[LevelChange]] = defaultdict(list)
    for one in moved:
        kind = trend_of(one.change)
        if one.drifting:
            groups[f"{DRIFT}: {kind}", one.change.machine, one.change.env_name].append(one)
        else:
            groups[kind,].append(one)
    for (kind, *_), members in groups.items():
        members.sort(key=lambda m: (m.change.first_bad.date, m.change.key))
        cluster: list[LevelChange] = []
        for one in members:
            if cluster and not one.drifting and one.within[0] >= cluster[0].within[1]:
                yield _occurrence(kind, cluster)
                cluster = []
            cluster.append(one)
        yield _occurrence(kind, cluster)


def _occurrence(kind: str, cluster: Sequence[LevelChange]) -> Occurrence:
    """The change of a cluster: it begins where most of its series do."""
    commit, _ = Counter(one.change.first_bad.commit for one in cluster).most_common(1)[0]
    first = next(one for one in cluster if one.change.first_bad.commit == commit)
    where = (first.change.machine, first.change.env_name) if first.drifting else (commit,)
    changes = sorted((one.change for one in cluster), key=lambda s: (-_relative(s), s.key))
    change = Change(
        id=id_of(kind, *where), kind=kind, sentence="",
        last_good=first.change.last_good, first_bad=first.change.first_bad,
        between=0 if first.drifting else first.between,
        series=changes[:_MOST_SERIES],
    )  # fmt: skip
    statement = Statement(
        "level changed", (changes, kind.removeprefix(f"{DRIFT}: "), first.drifting)
    )
    if first.change.kind == "near_exact":
        statement = Statement("work changed", (changes,))
    recovered = over_by([one.recovered for one in cluster])
    return Occurrence(change, first.change.worse, statement, recovered)


def _relative(change: SeriesChange) -> float:
    """The relative size of a change of level, in either direction."""
    low, high = sorted((change.before, change.after))
    return high / low - 1 if low > 0 else float("inf")
