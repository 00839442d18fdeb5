"""A step among the newest values, before the detector of steps can see it. Pure.

The detector needs five values after a step, and of a small one more. Whether the three to six
newest values are off their level is a question of its own, which an exact rank test answers
(Mann & Whitney 1947): by chance, k newest of n + k values are in each of the C(n + k, k) sets of
ranks equally often, and with at most u inversions in as many of them as there are partitions of
0 to u into at most k parts. They are compared with as many as MOST values before them, each
relative to the median of its level, so that former noise and former outliers count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from observatory.analyze.history.steps import PARAMETERS, Values

NEWEST = range(3, 7)
"""How many newest values may be off their level; of more of them the detector decides."""
MOST = 150
"""Values before them, at most."""
CHANCE = 3e-4
"""The chance of so few inversions, in both directions, up to which there is a step ..."""
HELD = 1e-2
"""... and up to which a step that was an alert before stays one."""
SMALLEST = 0.07
"""Relative change of the median below which a step is left to the detector."""


def with_fresh(values: Values, places: Sequence[int], chance: float = CHANCE) -> list[int]:
    """The places of steps, and the place of one among the newest values if there is one.

    ``values``: finite, in the order of time; those that are not positive have no fresh step.
    """
    found = fresh_step(values, places, chance)
    return [*places] if found is None else [*places, found]


def fresh_step(values: Values, places: Sequence[int], chance: float = CHANCE) -> int | None:
    """The index from which the newest values are off their level; the least likely, or None."""
    n, begin = len(values), places[-1] if places else 0
    if n == 0 or values.min() <= 0:
        return None
    bounds = [0, *places]
    levels = [values[a:b] / np.median(values[a:b]) for a, b in pairwise(bounds)]
    best: tuple[float, int | None] = (chance, None)
    for newest in NEWEST:
        place = n - newest
        if place - begin < PARAMETERS.fewest:
            break
        level = float(np.median(values[begin:place]))
        old = np.concatenate([*levels, values[begin:place] / level])[-MOST:]
        new = values[place:] / level
        if abs(math.log(float(np.median(new)))) < math.log1p(SMALLEST):
            continue
        likely = _chance(old, new)
        if likely < best[0]:
            best = likely, place
    return best[1]


def _chance(old: Values, new: Values) -> float:
    """The chance of so few inversions between the two, in either direction. A tie is one."""
    up = int((old[:, None] >= new).sum())
    down = int((old[:, None] <= new).sum())
    least, n, k = min(up, down), len(old), len(new)
    if least > n:  # with more inversions than old values the count of partitions is another
        return 1.0
    return 2 * _partitions(k, least) / math.comb(n + k, k)


@lru_cache(maxsize=4096)
def _partitions(parts: int, most: int) -> int:
    """How many partitions of 0 to ``most`` have at most so many parts."""
    ways = [1] + [0] * most
    for size in range(1, parts + 1):  # as many as those into parts of at most that size
        for total in range(size, most + 1):
            ways[total] += ways[total - size]
    return sum(ways)
