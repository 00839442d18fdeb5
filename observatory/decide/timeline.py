"""What each noisy series did over its subjects: steps, drifts, or too short to say. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from observatory.decide.drift import Drift, drift
from observatory.decide.series import Series, Subject
from observatory.decide.steps import PARAMETERS, fewest_for_judgement, sized
from observatory.decide.verdicts import JUDGED_NOISY
from observatory.record.alerts import At, SeriesChange, Unjudged

STILL = 0.5
"""Share of a step that has to be left for it to hold."""
_EXAMPLES = 10


@dataclass(frozen=True)
class Moved:
    """A step or a drift of one series."""

    told: SeriesChange
    drifting: bool
    recovered: At | None
    """The first subject of the level at which a step no longer holds."""

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
    short: list[str] = []
    for one in series:
        if one.place.kind != "noisy" or (one.place.model and one.place.metric not in JUDGED_NOISY):
            continue
        if len(one.values) < fewest_for_judgement() or one.values.min() <= 0:
            short.append(f"{one.benchmark} {one.place.metric} on {one.line.name}")
            continue
        found.judged += 1
        found.moved += _moved(one)
    if short:
        reason = (
            f"fewer than {fewest_for_judgement()} subjects with a value in one environment: a step "
            "cannot be told from noise yet"
        )
        found.unjudged.append(Unjudged(reason=reason, count=len(short), examples=short[:_EXAMPLES]))
    return found


def at(subject: Subject) -> At:
    """A subject as records have it."""
    return At(label=subject.label[:200], commit=subject.commit[:100], date=subject.date)


def _moved(series: Series) -> Iterator[Moved]:
    drifting, places = drift(series.values)
    if drifting is not None:
        yield _drifted(series, drifting)
    bounds = [0, *places, len(series.values)]
    pieces = pairwise(bounds)
    levels = [float(np.median(series.values[start:stop])) for start, stop in pieces]
    for number, place in enumerate(places):
        step = sized(series.values, place, (bounds[number], bounds[number + 2]))
        left = [
            (level - step.before) / (step.after - step.before) for level in levels[number + 1 :]
        ]
        over = next((later for later, share in enumerate(left) if share < STILL), None)
        recovered = None if over is None else at(series.subject(bounds[number + 1 + over]))
        told = _told(series, place, (step.before, step.after, levels[-1]), (step.low, step.high))
        yield Moved(told.model_copy(update={"holds": over is None}), False, recovered)


def _drifted(series: Series, found: Drift) -> Moved:
    """A drift: of no subject; it begins with the series and is never over by itself."""
    size = PARAMETERS.fewest
    first, last = (float(np.median(end)) for end in (series.values[:size], series.values[-size:]))
    return Moved(_told(series, 1, (first, last, last), (found.low, found.high)), True, None)


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
