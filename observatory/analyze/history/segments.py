"""One series cut into levels: its drift, noise, steps and newest value. Pure.

Alerts are made from the steps between the levels (`level_changes`), and pages draw them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from observatory.analyze.chance import NORMAL
from observatory.analyze.comparison.rules import JUDGED_NOISY
from observatory.analyze.history.drift import Drift, drift, without_levels
from observatory.analyze.history.events import counts_of, events_in, without_events
from observatory.analyze.history.fresh import HELD, fresh_step, with_fresh
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.robust import median
from observatory.analyze.history.series import Series
from observatory.analyze.history.steps import (
    FEWEST,
    PARAMETERS,
    Step,
    Values,
    change_points,
    sized,
    two_modes,
)
from observatory.analyze.statements import Statement
from observatory.store.records.alerts import SeriesId

Judgement = Literal["judged", "exact", "described", "unfit"]
"""Whether steps were searched; exact counts need no test, and some metrics only describe."""

_WIDEST = 1e9
"""A series whose largest value is so many times its smallest does not measure one thing."""
_LARGEST = 1e300
"""A bound far above anything measured: the mean of two larger values may be infinite."""
_STILL = 0.01
"""A single value of a series without noise is reported if it is so far off, relatively."""
UNUSUAL = 4.0
"""A single value so many times the noise off its level is reported, although there is no step."""
NEAR = 10
"""A drifting series hardly moves within so many values."""
STILL = 0.5
"""A step holds while at least this share of it is left."""
Alerted = tuple[SeriesId, str]
"""A series, and the commit at which a step of it begins."""
Levels = tuple[Drift | None, list[int]]
"""The drift of a series, and the places of its steps."""


@dataclass(frozen=True, eq=False, slots=True)
class _Cut:
    series: Series
    judgement: Judgement
    reason: Statement | None
    """Why it was not judged; None if it was, or is exact."""
    bounds: tuple[int, ...]
    drift: Drift | None = None


class SegmentedSeries(_Cut):
    """A series cut into levels: ``bounds`` are 0, the first value of each later level, and n.

    What was asked of it once is remembered until `forget`.
    """

    def forget(self) -> None:
        """Forget all that follows from the values: of all series that would be much memory."""
        self.__dict__.clear()

    @property
    def flat(self) -> Values:
        """The values without their drift."""
        return self.series.values if self.drift is None else self.drift.flat

    @cached_property
    def levels(self) -> tuple[float, ...]:
        """The median of each level; of a drifting series at its first value."""
        return tuple(median(self.flat[a:b]) for a, b in pairwise(self.bounds))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps between the levels of a judged series, with observed medians.

        Ratios are those of the values without the drift. The medians of a drifting series are of
        the NEAR values on either side, as they were measured: the drift hardly moves those.
        """
        # Most series have none, which need not be remembered.
        return self._steps if self.judgement == "judged" and len(self.bounds) > 2 else ()

    @cached_property
    def _steps(self) -> tuple[Step, ...]:
        edges = zip(self.bounds, self.bounds[1:], self.bounds[2:], strict=False)
        return tuple(self._step(start, place, stop) for start, place, stop in edges)

    def _step(self, start: int, place: int, stop: int) -> Step:
        step = sized(self.flat, place, (start, stop))
        if self.drift is None:
            return step
        values = self.series.values
        before = median(values[max(start, place - NEAR) : place])
        after = median(values[place : min(stop, place + NEAR)])
        modes = step.modes and two_modes(values[start:place], values[place:stop], step.worse)
        return replace(step, before=before, after=after, modes=modes)

    @cached_property
    def now(self) -> float:
        """The median of the newest level; of a drifting series that of its NEAR newest values."""
        newest = self.series.values[self.bounds[-2] :]
        return median(newest if self.drift is None else newest[-NEAR:])

    @cached_property
    def longest(self) -> tuple[float, float]:
        """Medians of the NEAR first and last values of the longest level, as measured."""
        start, stop = max(pairwise(self.bounds), key=lambda ends: ends[1] - ends[0])
        values = self.series.values[start:stop]
        return median(values[:NEAR]), median(values[-NEAR:])

    @cached_property
    def noise(self) -> float | None:
        """The spread of the values about their levels: a robust relative standard deviation.

        None for series that are not judged.
        """
        if self.judgement != "judged":
            return None
        off = without_levels(np.log(self.flat), self.bounds[1:-1])
        # A level of k values takes one of k degrees of freedom.
        free = len(off) / max(1, len(off) - (len(self.bounds) - 1))
        return NORMAL * median(np.abs(off)) * math.sqrt(free) or None

    @cached_property
    def expected(self) -> Values:
        """For each value its level, with the drift if there is one."""
        levels = np.repeat(np.array(self.levels), np.diff(self.bounds))
        return levels if self.drift is None else levels * (self.series.values / self.drift.flat)

    @cached_property
    def off(self) -> npt.NDArray[np.bool_]:
        """For each value whether it is at least UNUSUAL times the noise off its level.

        Without noise, as of a number that always was the same, a hundredth is enough.
        """
        if self.judgement != "judged":
            return np.zeros(len(self.series.values), np.bool_)
        most = _STILL if self.noise is None else UNUSUAL * self.noise
        found: npt.NDArray[np.bool_] = np.abs(np.log(self.series.values / self.expected)) >= most
        return found

    @cached_property
    def before(self) -> float | None:
        """What the newest value is compared with; None if there is only one value.

        This is the median of the other values of its level; the previous value for counts and where
        the level has no other.
        """
        values, n, start = self.series.values, len(self.series.values), self.bounds[-2]
        if n == 1:
            return None
        if self.judgement != "judged" or start == n - 1:
            return float(values[-2])
        grown = 1.0 if self.drift is None else float(values[-1] / self.drift.flat[-1])
        return median(self.flat[start:-1]) * grown

    @cached_property
    def multiple(self) -> float | None:
        """How far the newest value is from ``before``, in multiples of the noise, with a sign.

        None without noise, or where the two values have no ratio.
        """
        value = float(self.series.values[-1])
        if not self.noise or self.before is None or min(self.before, value) <= 0:
            return None
        return math.log(value / self.before) / self.noise


class Tracks:
    """The levels of series, found by key and commit.

    A key has a series for each CPU, system and Python of its machine, and a commit is on one.
    """

    def __init__(self, tracks: Iterable[SegmentedSeries]) -> None:
        """Sort them by key."""
        self._of: dict[SeriesId, list[SegmentedSeries]] = defaultdict(list)
        for one in tracks:
            self._of[one.series.key].append(one)

    @property
    def keys(self) -> Collection[SeriesId]:
        """The different keys."""
        return self._of.keys()

    def at(self, key: SeriesId, commit: str) -> SegmentedSeries | None:
        """The one of this key that a commit is on; None if there is none."""
        return next((one for one in self._of.get(key, ()) if commit in one.series.commits), None)

    def values(self, key: SeriesId, commits: Sequence[str]) -> list[float]:
        """The values of these commits; empty if no series of this key has all of them."""
        for track in self._of.get(key, ()):
            one = track.series
            found = {
                one.subject(place).commit: value for place, value in enumerate(one.values.tolist())
            }
            if found.keys() >= {*commits}:
                return [found[commit] for commit in commits]
        return []


def unfit(series: Series) -> Statement | None:
    """Why a series cannot be judged; None if it can."""
    if len(series) < FEWEST:
        return Statement("too few subjects", (FEWEST,))
    low, high = series.extremes
    within = low > 0 and high < min(low * _WIDEST, _LARGEST)
    return None if within else Statement("no ratio of levels")


def searched(series: Series) -> bool:
    """Whether steps are searched for in a series."""
    place = series.place
    described = place.model and place.metric not in JUDGED_NOISY
    return place.kind != "exact" and not described and unfit(series) is None


def segmented(
    series: Iterable[Series],
    alerted: Collection[Alerted] = (),
    among: Iterable[Series] | None = None,
    levels: Callable[[Series, Values | None], Levels] | None = None,
    floors: MachineFloors | None = None,
) -> Iterator[SegmentedSeries]:
    """Cut every series into levels; of our metrics only those that are judged.

    ``alerted``: steps that were alerts the last time, and stay while STILL of the smallest step is
    left: otherwise a step of about that size would come and go with every new value.
    ``among``: the series of which the exact counts are events for times; ``series`` if None.
    ``levels``: what finds the levels of a series as `levels_of` does, and may know them. It gets
    the values without events, or None where the series has no events. ``floors``: what was learned
    of near-exact metrics.
    """
    series, floors = list(series), floors or MachineFloors()
    cells = counts_of(series if among is None else among)
    known: dict[SeriesId, list[str]] = defaultdict(list)
    for key, commit in alerted:
        known[key].append(commit)
    for one in series:
        n = len(one)
        if one.place.kind == "exact":
            places = (np.flatnonzero(np.diff(one.values)) + 1).tolist()
            yield SegmentedSeries(one, "exact", None, (0, *places, n))
        elif one.place.model and one.place.metric not in JUDGED_NOISY:
            rule = floors.rule_of(one)
            counted = rule.sure() - 1, rule.samples
            why = Statement("compared", counted) if rule.judged else Statement("described")
            if rule.all_of > 1:
                why = Statement("in a row", (rule.all_of,))
            yield SegmentedSeries(one, "described", why, (0, n))
        elif reason := unfit(one):
            yield SegmentedSeries(one, "unfit", reason, (0, n))
        else:
            drifting, found = _levels(one, events_in(one, cells), levels or _searched)
            if drifting is None and (commits := known.get(one.key)):
                found = _with_known(one, found, commits)
            yield SegmentedSeries(one, "judged", None, (0, *found, n), drifting)


def levels_of(values: Values) -> Levels:
    """The drift of values, and the places of the steps that the detector finds."""
    drifting, found = drift(values)
    return drifting, with_fresh(values if drifting is None else drifting.flat, found)


def _searched(series: Series, values: Values | None) -> Levels:
    return levels_of(series.values if values is None else values)


def _levels(
    series: Series, events: Sequence[int], levels: Callable[[Series, Values | None], Levels]
) -> Levels:
    """The drift and the places of steps: exact events, and what else the detector finds."""
    if not events:
        return levels(series, None)
    values = series.values
    level = without_events(values, events)
    drifting, found = levels(series, level)
    if drifting is not None:
        drifting = replace(drifting, flat=drifting.flat * (values / level))
    near = PARAMETERS.fewest - 1
    others = [place for place in found if all(abs(place - event) > near for event in events)]
    return drifting, sorted([*events, *others])


def _with_known(series: Series, places: Sequence[int], commits: Collection[str]) -> list[int]:
    """The places of steps, and of smaller ones where a step was alerted before."""
    at = [n for n in range(len(series.values)) if series.subject(n).commit in commits]
    near = PARAMETERS.fewest - 1
    lost = [n for n in at if all(abs(n - place) > near for place in places)]
    if not lost:
        return [*places]
    smaller = change_points(series.values, STILL * PARAMETERS.smallest)
    fresh = fresh_step(series.values, places, HELD)
    smaller += [] if fresh is None else [fresh]
    held = [place for place in smaller if any(abs(n - place) <= near for n in lost)]
    return sorted({*places, *(p for p in held if all(abs(p - place) > near for place in places))})
