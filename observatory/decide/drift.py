"""Slow drift of one series: many changes too small for any subject to be blamed. Pure.

A drift and a staircase of small steps look alike to a detector of steps. Which of the two a series
is, is a choice of models: levels between steps, or one slope (Theil & Sen) with the steps that are
left once it is taken out; the slope is sought in all values, and within the levels alone. The one
of the smallest Bayesian information criterion is told, with errors as Laplace's, so that single
outliers do not choose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, theilslopes

from observatory.decide.steps import PARAMETERS, Parameters, Values, change_points

FEWEST = 30
"""Values below which a drift is not looked for."""
SMALLEST = 0.03
"""Relative change over the whole series below which a drift is not told."""
_WEAKEST = 0.4
_DEVIATIONS = 4.0
"""Rank correlation with time, and in its standard deviations, below which there is nothing to ask:
far cheaper than the question."""
_ROUNDS = 3


@dataclass(frozen=True)
class Drift:
    """A change of the level spread over a whole series: its ratio from first to last, and 95 %."""

    ratio: float
    low: float
    high: float


def drift(
    values: Sequence[float] | Values, parameters: Parameters = PARAMETERS
) -> tuple[Drift | None, list[int]]:
    """The drift of a series, if it has one, and the places of its steps beside that.

    ``values``: finite and positive, in the order of time. Without a drift the places are those of
    `change_points`.
    """
    array = np.asarray(values, dtype=float)
    places = change_points(array, parameters)
    n = len(array)
    if n < FEWEST or array.min() <= 0 or np.ptp(array) == 0:
        return None, places
    time = np.arange(n)
    trend = abs(float(np.corrcoef(time, rankdata(array))[0, 1]))  # Spearman's
    if trend < max(_WEAKEST, _DEVIATIONS / math.sqrt(n - 1)):
        return None, places
    logs = np.log(array)
    told = _criterion(logs, places, slopes=0)
    best: tuple[float, Drift, list[int]] | None = None
    for slope in (theilslopes(logs, time).slope, _slope_between(logs, places)):
        for _ in range(_ROUNDS):  # the steps that are left and the slope depend on each other
            left = change_points(np.exp(logs - slope * time), parameters)
            flat = _without_levels(logs - slope * time, left)
            slope, _, low, high = theilslopes(flat + slope * time, time)
        criterion = _criterion(logs - slope * time, left, slopes=1)
        large = abs(math.expm1(slope * (n - 1))) >= SMALLEST and low * high > 0
        if large and criterion < min(told, best[0] if best else told):
            best = criterion, Drift(*(math.exp(s * (n - 1)) for s in (slope, low, high))), left
    return (None, places) if best is None else best[1:]


def _slope_between(logs: Values, places: Sequence[int]) -> float:
    """The median of the slopes between values of one level: steps do not enter it."""
    pieces = np.split(logs, list(places))
    slopes = []
    for piece in pieces:
        left, right = np.triu_indices(len(piece), k=1)
        slopes.append((piece[right] - piece[left]) / (right - left))
    return float(np.median(np.concatenate(slopes)))


def _without_levels(logs: Values, places: Sequence[int]) -> Values:
    pieces = np.split(logs, list(places))
    return np.concatenate([piece - np.median(piece) for piece in pieces])


def _criterion(logs: Values, places: Sequence[int], slopes: int) -> float:
    """The Bayesian information criterion of levels between places, Laplace errors."""
    n = len(logs)
    errors = [np.abs(piece - np.median(piece)).sum() for piece in np.split(logs, list(places))]
    scale = max(sum(errors) / n, 1e-12)
    parameters = 1 + 2 * len(places) + slopes  # a level and a place for each step
    return float(2 * n * math.log(scale) + parameters * math.log(n))
