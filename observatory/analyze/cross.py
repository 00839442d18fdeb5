"""Which of several axes made a change, found with few measurements. Pure.

An axis is what has an old and a new state: PyTensor, numba, Python. Everything old gives the old
value, everything new the new one. A combination is the set of axes that are new; a cause is a
smallest combination that already gives the new value. If it has several axes, none of its parts
gives it: they do it only together.

As in delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
2002), what holds for one combination is taken to hold for others: a combination within one with the
old value has the old value, one that contains one with the new value has the new value. A change
that one axis makes and another takes back is not seen, as in every bisection. That leaves few of
the 2^n combinations to measure. Of those, the one is next whose value tells most: it splits the
sets of axes that may be the cause in halves, each as likely as the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod

Combination = frozenset[str]
"""The axes that are new."""
_ANOTHER = 0.2
"""How likely a cause with one axis more is."""


@dataclass(frozen=True)
class Found:
    """A smallest combination that gives the new value."""

    axes: Combination
    untried: tuple[Combination, ...] = ()
    """Parts of it that cannot be measured: each may be the cause as well."""


@dataclass
class Crossing:
    """The search for the axes that made a change."""

    axes: Sequence[str]
    """The likeliest first."""
    values: dict[Combination, bool | None] = field(default_factory=dict)
    """Whether a combination has the new value. None: it cannot be measured."""

    def __post_init__(self) -> None:
        self.values |= {frozenset(): False, self.everything: True}

    @property
    def everything(self) -> Combination:
        """All axes are new."""
        return frozenset(self.axes)

    @property
    def product(self) -> int:
        """How many combinations there are."""
        return 1 << len(self.axes)

    def known(self, one: Combination) -> bool | None:
        """Whether a combination has the new value, measured or concluded; None: not known."""
        if any(found <= one for found in self._with(True)):
            return True
        return False if any(one <= found for found in self._with(False)) else None

    def wanted(self) -> Combination | None:
        """The combination to measure next; None: nothing more can be known."""
        left = [
            one for one in self._subsets() if one not in self.values and self.known(one) is None
        ]
        suspects = self._suspects()
        total = sum(suspects.values())

        def told(one: Combination) -> tuple[float, int]:
            """How far from a half it splits, and how many combinations need no measurement then."""
            new = sum(weight for cause, weight in suspects.items() if cause <= one)
            likely = 2 * new > total
            decided = sum(one <= other if likely else other <= one for other in left)
            return round(abs(2 * new - total), 9), -decided

        return min(left, key=told, default=None)

    def causes(self) -> list[Found]:
        """The smallest combinations with the new value among those measured, the likeliest first.

        Several: each of them gives the new value without the others.
        """
        new = self._with(True)
        smallest = [one for one in new if not any(other < one for other in new)]
        order = {axis: place for place, axis in enumerate(self.axes)}
        smallest.sort(key=lambda one: (len(one), sorted(order[axis] for axis in one)))
        return [Found(one, tuple(self._untried(one))) for one in smallest]

    def needed(self, axis: str) -> bool | None:
        """Whether the new value is gone without an axis; None: that cannot be measured."""
        known = self.known(self.everything - {axis})
        return None if known is None else not known

    def _suspects(self) -> dict[Combination, float]:
        """Sets of axes that may be the cause of what no cause explains yet; how likely each is."""
        causes = [
            one.axes for one in self.causes()
            if all(self.known(one.axes - {axis}) is False for axis in one.axes)
        ]  # fmt: skip
        unexplained = [one for one in self._with(True) if not any(cause <= one for cause in causes)]
        # One cause for all of it, if that is possible; else the one of the smallest combination.
        return self._within(unexplained) or self._within(sorted(unexplained, key=len)[:1])

    def _within(self, new: Sequence[Combination]) -> dict[Combination, float]:
        if not new:
            return {}
        old = self._with(False)
        return {
            one: self._likelihood(one)
            for one in self._subsets()
            if all(one <= other for other in new) and not any(one <= other for other in old)
        }

    def _untried(self, cause: Combination) -> Iterator[Combination]:
        for size in range(1, len(cause)):
            for part in map(frozenset, combinations(sorted(cause), size)):
                if part in self.values and self.values[part] is None and self.known(part) is None:
                    yield part

    def _likelihood(self, one: Combination) -> float:
        places = (place for place, axis in enumerate(self.axes) if axis in one)
        return prod(_ANOTHER / (1 + place) for place in places)

    def _with(self, value: bool) -> list[Combination]:
        return [one for one, known in self.values.items() if known is value]

    def _subsets(self) -> Iterator[Combination]:
        for size in range(len(self.axes) + 1):
            yield from map(frozenset, combinations(self.axes, size))
