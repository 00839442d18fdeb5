"""Slow drift of one series: many changes too small for any subject to be blamed. Pure.

A drift and a staircase of small steps look alike to a detector of steps. Which of the two a series
is, is a choice of models: levels between steps, or one slope (Theil & Sen) with the steps that are
left once it is taken out; the slope is sought in all values, and within the levels alone. The one
of the smallest Bayesian information criterion is reported, with errors as Laplace's, so that single
outliers do not choose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from observatory.analyze.history.robust import all_equal, median, theil_sen, trend, trends
from observatory.analyze.history.steps import Values, change_points

FEWEST = 30
"""Shorter series are not searched for a drift."""
SMALLEST = 0.03
"""A drift with a smaller relative change over the whole series is not reported."""
_WEAKEST = 0.4
_DEVIATIONS = 4.0
"""Values whose rank correlation with time is lower, or lower in its deviations, have no trend."""
_STAIRS = 3
_ROUNDS = 10
_MOST = 150
_LARGEST = 50.0
"""Bound on the logarithm of a ratio, above any real one, so that its exponential is finite."""


@dataclass(frozen=True, eq=False)
class Drift:
    """A change of the level spread over a whole series: its ratio from first to last, and 95 %."""

    ratio: float
    low: float
    high: float
    slope: float
    """The change of the logarithm from one value to the next."""
    flat: Values
    """The values without the drift, at the level of the first."""

    @classmethod
    def of(cls, values: Values, ratio: float, low: float, high: float, slope: float) -> Drift:
        """A drift of these values."""
        time = np.arange(len(values), dtype=float)
        return cls(ratio, low, high, slope, np.exp(np.log(values) - slope * time))


def drift(values: Sequence[float] | Values) -> tuple[Drift | None, list[int]]:
    """The drift of a series, None without one, and the places of its other steps.

    ``values``: finite and positive, in the order of time. Without a drift the places are those of
    `change_points`.
    """
    array = np.asarray(values, dtype=float)
    places = change_points(array)
    n = len(array)
    if n < FEWEST or array.min() <= 0 or all_equal(array):
        return None, places
    if not _worth_asking(array, places):
        return None, places
    time = np.arange(n, dtype=float)
    logs = np.log(array)
    best: tuple[float, Drift | None, list[int]] = (_criterion(logs, places, slopes=0), None, places)

    def left_by(slope: float) -> tuple[int, ...]:
        return tuple(change_points(np.exp(logs - slope * time)))

    @cache
    def sloped(places: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        """The slope between steps at these places, and the steps that are left without it."""
        slope = slope_between(logs, places)
        return slope, left_by(slope)

    tried = set()
    for left in (left_by(_slope(logs, time)[0]), sloped(tuple(places))[1]):
        for _ in range(_ROUNDS):  # the steps that are left and the slope depend on each other
            before = left
            slope, left = sloped(before)
            if left == before:
                break
        if (slope, left) in tried:
            continue
        tried.add((slope, left))
        flat = without_levels(logs - slope * time, left)
        slope, low, high = _slope(flat + slope * time, time)
        sure = low * high > 0 and abs(_grown(slope, n) - 1) >= SMALLEST
        criterion = _criterion(logs - slope * time, left, slopes=1)
        if sure and criterion < best[0]:
            grown, least, most = (_grown(s, n) for s in (slope, low, high))
            found = Drift.of(array, grown, least, most, slope)
            best = criterion, found, [*left]
    return best[1:]


def _worth_asking(values: Values, places: Sequence[int]) -> bool:
    """Whether the values have a trend or several steps in one direction: a cheap test."""
    if has_trend(values):
        return True
    if len(places) < _STAIRS:
        return False
    levels = [median(piece) for piece in _pieces(values, places)]
    up = int(sum(np.diff(levels) > 0))
    return max(up, len(places) - up) >= _STAIRS


def has_trend(values: Values) -> bool:
    """Whether the values have a trend; equal ones have none."""
    return not all_equal(values) and abs(trend(values)) >= _weakest(len(values))


def trends_of(ranks: Values) -> npt.NDArray[np.bool_]:
    """For each row, the ranks from 1 of different values: whether `drift` sees a trend in it."""
    found: npt.NDArray[np.bool_] = np.abs(trends(ranks)) >= _weakest(ranks.shape[1])
    return found


def _weakest(n: int) -> float:
    """The weakest correlation of n values with time that is a trend."""
    return max(_WEAKEST, _DEVIATIONS / math.sqrt(n - 1))


def _grown(slope: float, n: int) -> float:
    """The ratio of last to first."""
    return math.exp(min(max(slope * (n - 1), -_LARGEST), _LARGEST))


def _slope(logs: Values, time: Values) -> tuple[float, float, float]:
    """Theil & Sen's slope and its interval, over all pairs of at most _MOST values."""
    chosen = _chosen(len(logs))
    return theil_sen(logs[chosen], time[chosen])


@lru_cache(maxsize=1024)
def _chosen(n: int) -> npt.NDArray[np.intp]:
    return np.unique(np.linspace(0, n - 1, min(n, _MOST)).astype(int))


@lru_cache(maxsize=64)  # most series have fewer values, and 64 lengths take 15 MB at most
def _pairs(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Values]:
    """All pairs of the chosen ones of n values, the earlier ones first; and how far apart."""
    chosen = _chosen(n)
    left, right = (chosen[side] for side in np.triu_indices(len(chosen), k=1))
    return left, right, (right - left).astype(np.float64)


def slope_between(logs: Values, places: Sequence[int]) -> float:
    """The median of the slopes between values of one level, unaffected by steps."""
    slopes = []
    for piece in _pieces(logs, places):
        left, right, apart = _pairs(len(piece))
        slopes.append((piece[right] - piece[left]) / apart)
    return median(np.concatenate(slopes))


def without_levels(values: Values, places: Sequence[int]) -> Values:
    """The values less the median of their level; each of ``places`` begins a new level."""
    if not len(places):
        return values - median(values)
    return np.concatenate([piece - median(piece) for piece in _pieces(values, places)])


def _pieces(values: Values, places: Sequence[int]) -> list[Values]:
    """The values of each level, as `np.split` has them, in a tenth of its time."""
    return [values[start:stop] for start, stop in pairwise((0, *places, len(values)))]


def _criterion(logs: Values, places: Sequence[int], slopes: int) -> float:
    """The Bayesian information criterion of levels between places, Laplace errors."""
    n = len(logs)
    scale = max(float(np.abs(without_levels(logs, places)).mean()), 1e-12)
    parameters = 1 + 2 * len(places) + slopes  # a level and a place for each step
    return float(2 * n * math.log(scale) + parameters * math.log(n))
