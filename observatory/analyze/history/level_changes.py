"""Steps and drifts of noisy series, with their sizes and places. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from observatory.analyze.history.drift import Drift
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import Series, Subject
from observatory.analyze.history.steps import Step, Values, ratio
from observatory.analyze.statements import Statement
from observatory.store.records.alerts import At, SeriesChange, cut

STILL = 0.5
"""A step holds while at least this share of it is left."""


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

    @property
    def worse(self) -> bool:
        """Whether it went up: higher is worse, always."""
        return self.change.worse


@dataclass
class LevelChanges:
    """The steps and drifts of noisy series, and the series that could not be judged."""

    moved: list[LevelChange] = field(default_factory=list)
    judged: int = 0
    unjudged: dict[Statement, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The names of series by the reason for which they were not judged."""


def judge_series(tracks: Iterable[SegmentedSeries]) -> LevelChanges:
    """The steps and drifts of every noisy series that is judged, and what could not be judged."""
    found = LevelChanges()
    for track in tracks:
        if track.judgement == "unfit" and track.reason is not None:
            one = track.series
            name = f"{one.benchmark} {one.place.metric} on {one.line.name}"
            found.unjudged[track.reason].append(name)
        elif track.judgement == "judged":
            found.judged += 1
            found.moved += _moved(track)
    return found


def at(subject: Subject) -> At:
    """The subject as a record."""
    return At(label=subject.label[:200], commit=subject.commit[:100], date=subject.date)


def _moved(track: SegmentedSeries) -> Iterator[LevelChange]:
    series, values, drifting = track.series, track.flat, track.drift
    if drifting is not None:
        yield _drifted(track, drifting)
    levels = [values[start:stop] for start, stop in pairwise(track.bounds)]
    for number, step in enumerate(track.steps):
        left = [_left(levels[number], later, step) for later in levels[number + 1 :]]
        over = next((later for later, share in enumerate(left) if share < STILL), None)
        recovered = None if over is None else at(series.subject(track.bounds[number + 1 + over]))
        change = _series_change(track, step).model_copy(update={"holds": over is None})
        yield LevelChange(change, False, recovered, *_where(series, step.index))


def _left(before: Values, later: Values, step: Step) -> float:
    """The share of a step that is left at a later level."""
    whole = math.log(step.ratio)
    return math.log(ratio(before, later)) / whole if whole else 0.0


def _where(series: Series, place: int) -> tuple[int, tuple[datetime, datetime]]:
    """The number of subjects between the two at a place, and the dates of those one further out."""
    first, last = int(series.at[place - 1]), int(series.at[place])
    subjects = series.line.subjects
    before, after = subjects[max(first - 1, 0)], subjects[min(last + 1, len(subjects) - 1)]
    return last - first - 1, (before.date, after.date)


def _drifted(track: SegmentedSeries, found: Drift) -> LevelChange:
    """A drift begins at no subject, and is never over by itself."""
    whole = Step(1, *track.longest, found.ratio, found.low, found.high)
    change = _series_change(track, whole).model_copy(update={"last_good": None})
    return LevelChange(change, True, None, *_where(track.series, 1))


def _series_change(track: SegmentedSeries, step: Step) -> SeriesChange:
    series = track.series
    machine, env_name, benchmark, metric = series.key
    return SeriesChange(
        machine=machine, env_name=env_name, benchmark=benchmark, metric=metric,
        unit=cut(series.place.unit), kind="noisy",
        before=step.before, after=step.after, now=track.now,
        ratio=step.ratio, low=step.low, high=step.high, modes=step.modes,
        last_good=at(series.subject(step.index - 1)),
        first_bad=at(series.subject(step.index)),
        newest=at(series.subject(len(series.values) - 1)), holds=True,
    )  # fmt: skip
