"""The curve of one metric over the sizes of a family: exponent, cliffs, and cost of one more. Pure.

A build has a cost that no size changes. What the smallest size costs is therefore taken off before
a power of the size is fitted to the rest, by least squares of the logarithms. Where the cost is
``c + b * n``, the exponent is exactly 1.

A cliff is a step between neighbouring sizes that neither a power of the size nor the step before it
explains. Nobody says where to look for one. The exponent is that of the sizes below the first
cliff, so that a cliff does not also count as another exponent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import fmean

ORDINARY = 2.0
"""The power of the size with which any step may grow and is no cliff."""
TIMES = 2.0
"""A cliff is at least so many times as high as the largest ordinary step."""
_GROWN = 0.1
"""What a size adds to the smallest must be this share of it, or else there is nothing to fit."""
_FEWEST = 3
"""Points that an exponent needs: two lie on every line."""
_T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306)
"""Student's t for an interval of 95 %, by degrees of freedom from 1 on."""


@dataclass(frozen=True, order=True)
class Point:
    """What a metric is at one size."""

    size: int
    value: float
    """Above 0."""
    at_least: bool = False
    """Whether the build was ended when it had reached this value."""


@dataclass(frozen=True)
class Exponent:
    """The power of the size with which a cost grows, and its interval of 95 %."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Cliff:
    """A step that is too high to be ordinary growth."""

    below: int
    """The last size before it."""
    at: int
    times: float
    """How many times as much the larger size costs as the smaller one."""
    at_least: bool = False
    """Whether it is higher: the build of the larger size was ended."""


@dataclass(frozen=True)
class Curve:
    """One metric of one family."""

    points: tuple[Point, ...]
    """By size, the smallest first."""

    @cached_property
    def cliffs(self) -> tuple[Cliff, ...]:
        """The cliffs, at the smallest size first."""
        found = []
        power = ORDINARY
        for before, after in pairwise(self.points):
            larger, times = after.size / before.size, after.value / before.value
            if times >= TIMES * larger**power:
                found.append(Cliff(before.size, after.size, times, after.at_least))
                power = ORDINARY  # what a cliff grows by says nothing about the next step
            elif not after.at_least:
                power = max(ORDINARY, math.log(times) / math.log(larger))
        return tuple(found)

    @cached_property
    def exponent(self) -> Exponent | None:
        """The exponent of the sizes below the first cliff; None of too few sizes.

        It is 0 where the largest size costs hardly more than the smallest.
        """
        below = self.cliffs[0].below if self.cliffs else math.inf
        smooth = [one for one in self.points if one.size <= below and not one.at_least]
        if len(smooth) <= _FEWEST:
            return None
        first, *others = smooth
        grown = [
            (math.log(one.size - first.size), math.log(one.value - first.value))
            for one in others
            if one.value - first.value >= _GROWN * first.value
        ]
        if not grown:
            return Exponent(0.0, 0.0, 0.0)
        return _slope(grown) if len(grown) >= _FEWEST else None

    @property
    def each(self) -> float | None:
        """What one more of the size costs, on average over all sizes; None of fewer than two."""
        known = [one for one in self.points if not one.at_least]
        if len(known) < 2:  # noqa: PLR2004
            return None
        first, last = known[0], known[-1]
        return (last.value - first.value) / (last.size - first.size)


def _slope(points: Sequence[tuple[float, float]]) -> Exponent:
    """The slope of the line through some points, by least squares, with its interval of 95 %."""
    at, up = fmean(x for x, _ in points), fmean(y for _, y in points)
    wide = sum((x - at) ** 2 for x, _ in points)
    slope = sum((x - at) * (y - up) for x, y in points) / wide
    degrees = len(points) - 2
    left = sum((y - up - slope * (x - at)) ** 2 for x, y in points)
    half = _T_95[min(degrees, len(_T_95)) - 1] * math.sqrt(left / degrees / wide)
    return Exponent(slope, slope - half, slope + half)
