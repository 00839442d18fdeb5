"""A step among the newest values, before the detector of steps can see it. Pure.

The detector needs five values after a step, and of a small one more. Whether the newest values are
off their level is a question of its own, which an exact rank test answers (Mann & Whitney 1947). By
chance k newest of n + k values are equally often in each of the C(n + k, k) sets of ranks, and in
as many of them with at most u inversions as there are partitions of 0 to u into at most k parts.
They are compared with as many as MOST values before them, each relative to the median of its level,
so that earlier noise and outliers count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from observatory.analyze.history.robust import median
from observatory.analyze.history.steps import PARAMETERS, Values

MOST = 150
"""Values before the newest ones with which they are compared, at most."""


@dataclass(frozen=True)
class Evidence:
    """What makes a step of the newest values."""

    newest: range
    """How many of them may be off their level."""
    chance: float
    """The largest chance of so few inversions, in both directions."""
    smallest: float
    """The smallest relative change of the median."""


NEW = Evidence(range(3, 5), 7e-5, 0.07)
"""A larger chance finds few more steps, and several times as many that are none. Smaller steps are
left to the detector."""
HELD = Evidence(range(3, 11), 1e-2, 0.035)
"""For a step that was an alert before: it stays one until the detector has enough values."""


def with_fresh(values: Values, places: Sequence[int]) -> list[int]:
    """The places of steps, and the place of one among the newest values if there is one.

    ``values``: finite, in the order of time; where one is not positive there is no fresh step.
    """
    found = fresh_step(values, places)
    return [*places] if found is None else [*places, found]


def fresh_step(values: Values, places: Sequence[int], needed: Evidence = NEW) -> int | None:
    """The index from which the newest values are off their level; the least likely, or None."""
    if len(values) == 0 or values.min() <= 0:
        return None
    begin = places[-1] if places else 0
    earlier = [values[a:b] / median(values[a:b]) for a, b in pairwise([0, *places])]
    best: tuple[float, int | None] = (needed.chance, None)
    for newest in needed.newest:
        place = len(values) - newest
        if place - begin < PARAMETERS.fewest:
            break
        level = median(values[begin:place])
        new = values[place:] / level
        if abs(math.log(median(new))) >= math.log1p(needed.smallest):
            old = np.concatenate([*earlier, values[begin:place] / level])[-MOST:]
            best = min(best, (_chance(old, new), place), key=lambda each: each[0])
    return best[1]


def _chance(old: Values, new: Values) -> float:
    """The chance of so few inversions between the two, in either direction. A tie is one."""
    up = int((old[:, None] >= new).sum())
    down = int((old[:, None] <= new).sum())
    least, n, k = min(up, down), len(old), len(new)
    if least > n:  # parts are at most n: below that this limits no partition
        return 1.0
    return min(1.0, 2 * _partitions(k, least) / math.comb(n + k, k))


@lru_cache(maxsize=4096)
def _partitions(parts: int, most: int) -> int:
    """How many partitions of 0 to ``most`` have at most so many parts."""
    ways = [1] + [0] * most
    for size in range(1, parts + 1):  # as many as those into parts of at most that size
        for total in range(size, most + 1):
            ways[total] += ways[total - size]
    return sum(ways)
