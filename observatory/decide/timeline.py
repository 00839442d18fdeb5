"""What each noisy series did over its subjects: steps, drifts, or too short to say. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

import numpy as np

from observatory.decide.drift import Drift, drift
from observatory.decide.series import Series, Subject
from observatory.decide.steps import (
    PARAMETERS,
    Step,
    Values,
    fewest_for_judgement,
    shift,
    sized,
)
from observatory.decide.verdicts import JUDGED_NOISY
from observatory.record.alerts import At, SeriesChange, Unjudged

STILL = 0.5
"""Share of a step that has to be left for it to hold."""
_WIDEST = 1e9
"""Ratio of largest to smallest value from which on a series is no measurement of one thing."""
_EXAMPLES = 10
_LONGEST = 300
_SHORT = (
    f"fewer than {fewest_for_judgement()} subjects with a value in one environment: a step cannot "
    "be told from noise yet"
)
_NO_RATIO = "a value of 0 or below, or values too far apart: the size of a step is a ratio"


@dataclass(frozen=True)
class Moved:
    """A step or a drift of one series."""

    told: SeriesChange
    drifting: bool
    recovered: At | None
    """The first subject of the level at which a step no longer holds."""
    between: int
    """Subjects of its line between last good and first bad."""
    within: tuple[datetime, datetime]
    """Subjects between which it lies, one to either side allowed for."""

    @property
    def worse(self) -> bool:
        """Whether it went up: higher is worse, always."""
        return self.told.after > self.told.before


@dataclass
class Judged:
    """What series came to."""

    moved: list[Moved] = field(default_factory=list)
    judged: int = 0
    unjudged: list[Unjudged] = field(default_factory=list)


def judge_series(series: Iterable[Series]) -> Judged:
    """Look for steps and drifts in every noisy series; of ours in those that are judged at all."""
    found = Judged()
    left_out: dict[str, list[str]] = defaultdict(list)
    for one in series:
        if one.place.kind != "noisy" or (one.place.model and one.place.metric not in JUDGED_NOISY):
            continue
        if reason := unfit(one):
            name = f"{one.benchmark} {one.place.metric} on {one.line.name}"
            left_out[reason].append(name[:_LONGEST])
            continue
        found.judged += 1
        found.moved += _moved(one)
    found.unjudged = [
        Unjudged(reason=reason, count=len(names), examples=names[:_EXAMPLES])
        for reason, names in left_out.items()
    ]
    return found


def at(subject: Subject) -> At:
    """A subject as records have it."""
    return At(label=subject.label[:200], commit=subject.commit[:100], date=subject.date)


def unfit(series: Series) -> str | None:
    """Why a series cannot be judged; None if it can."""
    if len(series.values) < fewest_for_judgement():
        return _SHORT
    low, high = series.values.min(), series.values.max()
    return None if low > 0 and high < low * _WIDEST else _NO_RATIO


def _moved(series: Series) -> Iterator[Moved]:
    drifting, places = drift(series.values)
    values = series.values
    if drifting is not None:
        yield _drifted(series, drifting)
        values = drifting.flat
    bounds = [0, *places, len(values)]
    levels = [values[start:stop] for start, stop in pairwise(bounds)]
    for number, place in enumerate(places):
        step = sized(values, place, (bounds[number], bounds[number + 2]))
        left = [_left(levels[number], later, step) for later in levels[number + 1 :]]
        over = next((later for later, share in enumerate(left) if share < STILL), None)
        recovered = None if over is None else at(series.subject(bounds[number + 1 + over]))
        grown = 1.0 if drifting is None else float(series.values[place] / values[place])
        now = step.before * shift(levels[number], levels[-1])[0]
        told = _told(
            series, place, (step.before * grown, step.after * grown, now * grown),
            (step.low, step.high),
        )  # fmt: skip
        told = told.model_copy(update={"holds": over is None})
        yield Moved(told, False, recovered, *_where(series, place))


def _left(before: Values, later: Values, step: Step) -> float:
    """The share of a step that is left at a later level."""
    whole = math.log(step.ratio)
    return math.log(shift(before, later)[0]) / whole if whole else 0.0


def _where(series: Series, place: int) -> tuple[int, tuple[datetime, datetime]]:
    """Subjects between the two around a place, and the dates of those one further out."""
    first, last = int(series.at[place - 1]), int(series.at[place])
    subjects = series.line.subjects
    before, after = subjects[max(first - 1, 0)], subjects[min(last + 1, len(subjects) - 1)]
    return last - first - 1, (before.date, after.date)


def _drifted(series: Series, found: Drift) -> Moved:
    """A drift: of no subject; it is never over by itself."""
    before = float(np.median(series.values[: PARAMETERS.fewest]))
    levels = before, before * found.ratio, before * found.ratio
    told = _told(series, 1, levels, (found.low, found.high))
    return Moved(told.model_copy(update={"last_good": None}), True, None, *_where(series, 1))


def _told(
    series: Series, place: int, levels: tuple[float, float, float], interval: tuple[float, float]
) -> SeriesChange:
    before, after, now = levels
    return SeriesChange(
        machine=series.line.machine[:200],
        env_name=series.line.env_name[:200],
        benchmark=series.benchmark[:4000],
        metric=series.place.metric[:200],
        unit=series.place.unit[:200],
        kind="noisy",
        before=before,
        after=after,
        now=now,
        low=interval[0],
        high=interval[1],
        last_good=at(series.subject(place - 1)),
        first_bad=at(series.subject(place)),
        newest=at(series.subject(len(series.values) - 1)),
        holds=True,
    )
