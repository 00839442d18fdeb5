"""The curve of one metric over the sizes of a family: exponent, cliffs, and cost of one more. Pure.

A build has a cost that no size changes, and the second of two equal things has costs that a third
one has not. So everything is said of the *steps* between neighbouring sizes: what one more of the
size costs there. Where a cost is ``c + b * n ** k``, that grows with the power ``k - 1``, whatever
``c`` is. A line is fitted to its logarithm by least squares, without the first step.

A cliff is a step in which one more costs several times as much as in the step before, and more
than a power of the size explains. Nobody says where to look for one. The exponent is that of the
sizes below the first cliff, so that a cliff is not told as another exponent as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import fmean

TIMES = 2.0
"""A step is a cliff if one more costs at least so many times what ordinary growth explains."""
_ORDINARY = 1.0
"""The power with which the cost of one more may always grow: the cost in all is squared then."""
_RISES = 1.7
"""The cost in all rises at least by this factor in a cliff: times are not exact."""
_FLAT = 0.1
"""A cost that all sizes together raise by less than this share does not grow."""
_HIDDEN = 0.1
"""The share of a fixed cost, spread over the size, in which the cost of one more can hide."""
_FEWEST = 3
"""Steps that an exponent needs: two lie on every line."""
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
    each: float
    """How many times as much one more costs there as in the step before."""
    at_least: bool = False
    """Whether it is higher: the build of the larger size was ended."""


@dataclass(frozen=True)
class _Step:
    """Two neighbouring sizes, and what one more of the size costs between them."""

    before: Point
    after: Point

    @property
    def middle(self) -> float:
        return (self.before.size + self.after.size) / 2

    @property
    def each(self) -> float:
        return (self.after.value - self.before.value) / (self.after.size - self.before.size)

    @property
    def times(self) -> float:
        return self.after.value / self.before.value


@dataclass(frozen=True)
class Curve:
    """One metric of one family."""

    points: tuple[Point, ...]
    """By size, the smallest first."""

    @cached_property
    def _steps(self) -> list[_Step]:
        return [_Step(*pair) for pair in pairwise(self.points)]

    @cached_property
    def cliffs(self) -> tuple[Cliff, ...]:
        """The cliffs, the one at the smallest size first."""
        found = []
        power: float | None = None
        for last, step in pairwise(self._steps):
            hidden = _HIDDEN * step.before.value / step.before.size
            before = max(last.each, hidden)
            larger = step.middle / last.middle
            explained = before * larger ** max(_ORDINARY, power or 0.0)
            if step.each >= TIMES * explained and step.times >= _RISES:
                at_least = step.after.at_least
                found.append(Cliff(step.before.size, step.after.size, step.times,
                                   step.each / before, at_least))  # fmt: skip
                power = None  # what a cliff grows by says nothing about the next step
            elif step.each > 0 and last.each > 0:
                power = math.log(step.each / last.each) / math.log(larger)
        return tuple(found)

    @cached_property
    def exponent(self) -> Exponent | None:
        """The exponent of the sizes below the first cliff; None of too few sizes.

        It is 0 where the largest size costs hardly more than the smallest.
        """
        below = self.cliffs[0].below if self.cliffs else math.inf
        smooth = [one for one in self._steps
                  if one.after.size <= below and not one.after.at_least]  # fmt: skip
        if len(smooth) < _FEWEST:
            return None
        if smooth[-1].after.value < (1 + _FLAT) * smooth[0].before.value:
            return Exponent(0.0, 0.0, 0.0)
        kept = smooth[1:] if len(smooth) > _FEWEST else smooth
        grown = [(math.log(one.middle), math.log(one.each)) for one in kept if one.each > 0]
        return _slope(grown) if len(grown) >= _FEWEST else None

    @property
    def each(self) -> float | None:
        """What one more of the size costs, on average over all sizes; None of fewer than two."""
        known = [one for one in self.points if not one.at_least]
        if len(known) <= 1:
            return None
        return _Step(known[0], known[-1]).each


def _slope(points: Sequence[tuple[float, float]]) -> Exponent:
    """One more than the slope of a line through the points, with its interval of 95 %."""
    at, up = fmean(x for x, _ in points), fmean(y for _, y in points)
    wide = sum((x - at) ** 2 for x, _ in points)
    slope = sum((x - at) * (y - up) for x, y in points) / wide
    degrees = len(points) - 2
    left = sum((y - up - slope * (x - at)) ** 2 for x, y in points)
    half = _T_95[min(degrees, len(_T_95)) - 1] * math.sqrt(left / degrees / wide)
    return Exponent(1 + slope, 1 + slope - half, 1 + slope + half)
