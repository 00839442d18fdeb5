"""Where a value changes along a row of subjects, found with few measurements. Pure.

A bisection for any number of changes: between two measured subjects with different values, the one
in the middle is measured next, until the neighbours of every change are known. Between two subjects
with equal values nothing is looked for, as in every bisection: a change there that went back is not
seen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True)
class Step:
    """A change of the value between two measured subjects."""

    before: int
    """Place of the last subject with the old value."""
    after: int
    """Place of the first subject with the new value."""
    low: float
    high: float
    """The old and the new value."""

    @property
    def skipped(self) -> tuple[int, ...]:
        """The places between the two, none of which could be measured: each may be the culprit."""
        return tuple(range(self.before + 1, self.after))


@dataclass
class Search:
    """The search along subjects at the places 0 to ``count`` - 1."""

    count: int
    same: Callable[[float, float], bool]
    """Whether two values are equal, as far as chance lets one tell."""
    values: dict[int, float | None] = field(default_factory=dict)
    """What is known, by place. None: the subject cannot be measured."""
    likely: Collection[int] = ()
    """Places where something else is known to have changed: within a gap, they come first."""

    def wanted(self) -> list[int]:
        """The places to measure next, the most telling first; empty: every change is found.

        They do not depend on each other, so that several can be measured at once.
        """
        ends = [place for place in (0, self.count - 1) if place not in self.values]
        if ends:
            return list(dict.fromkeys(ends))
        if 0 not in self._measured or self.count - 1 not in self._measured:
            return []
        gaps = [pair for pair in self._changes() if self._open(*pair)]
        gaps.sort(key=lambda pair: pair[0] - pair[1])  # the widest first
        return [self._middle(*pair) for pair in gaps]

    def after(self, place: int) -> list[int]:
        """The places that are wanted next once ``place`` is known, whichever value it has.

        At most two: the middles of both of its sides.
        """
        known = self._measured
        left = max((one for one in known if one < place), default=None)
        right = min((one for one in known if one > place), default=None)
        if left is None or right is None or place in self.values:
            return []
        sides = ((left, place), (place, right))
        return [self._middle(*side) for side in sides if self._open(*side)]

    def steps(self) -> list[Step]:
        """Every change between two neighbours among the subjects that were measured, in order."""
        return [
            Step(left, right, self._measured[left], self._measured[right])
            for left, right in self._changes()
        ]

    @property
    def _measured(self) -> dict[int, float]:
        known = sorted(self.values.items())
        return {place: value for place, value in known if value is not None}

    def _changes(self) -> Iterator[tuple[int, int]]:
        found = self._measured
        for left, right in pairwise(found):
            if not self.same(found[left], found[right]):
                yield left, right

    def _open(self, left: int, right: int) -> list[int]:
        return [place for place in range(left + 1, right) if place not in self.values]

    def _middle(self, left: int, right: int) -> int:
        """The place nearest to the middle of a gap that was not tried; a likely one first."""
        return min(
            self._open(left, right),
            key=lambda place: (place not in self.likely, abs(2 * place - left - right)),
        )
