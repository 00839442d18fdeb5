"""Two modes in the values around a step: many slow runs beside many fast ones. Pure.

Hosted machines of two kinds, or a cache that is hit now and then, make values gather around two
centres. When their shares change, the median may jump from one centre to the other while the median
of the ratios of all pairs (Hodges & Lehmann) stays or jumps elsewhere. No single ratio describes
such a step; the two centres and the shares do.

The rule, in this order:

1. One ratio fails to describe the step: the ratio of the two medians lies outside the interval of
   the ratio, or the ends of the interval are more than USELESS times apart.
2. The best split of the logarithms of all values into a lower and an upper group (the smallest sum
   of squares within the groups; Otsu 1979, Fisher 1958) explains at least CLEAR of their variance.
   Half a normal distribution gives 0.64 and half a uniform one 0.75.
3. In one of the two levels both groups hold at least BOTH of the values, and at least 2 of them.
4. The share of the upper group changes by at least MOVED, in the direction of the ratio; or both
   groups are in both levels (3), and the medians of both move in the direction of the ratio.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from observatory.store.records.alerts import Modes

CLEAR = 0.75
BOTH = 0.1
MOVED = 0.05


def two_modes(
    old: npt.NDArray[np.float64], new: npt.NDArray[np.float64], worse: bool
) -> Modes | None:
    """The two modes of the positive values of two levels, by rules 2 to 4; None if there are not.

    ``worse``: whether the ratio is above 1.
    """
    values = np.concatenate([old, new])
    upper = _upper(np.log(values))
    if upper is None:
        return None
    sides = upper[: len(old)], upper[len(old) :]
    mixed = [min(side.sum(), (~side).sum()) >= max(2, BOTH * len(side)) for side in sides]
    before, after = (float(side.mean()) for side in sides)
    changed = after - before if worse else before - after
    if any(mixed) and changed >= MOVED:
        lower, upper_ = float(np.median(values[~upper])), float(np.median(values[upper]))
        return Modes(lower=lower, upper=upper_, before=before, after=after)
    if not all(mixed):
        return None
    (low, high), moved = (
        (float(np.median(level[~side])), float(np.median(level[side])))
        for level, side in zip((old, new), sides, strict=True)
    )
    one_way = all((to > at) == worse for at, to in zip((low, high), moved, strict=True))
    return (
        Modes(lower=low, upper=high, before=before, after=after, moved=moved) if one_way else None
    )


def _upper(logs: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_] | None:
    """Which values are in the upper group of the best split; None if it explains too little."""
    ordered = np.sort(logs - logs.mean())
    n, whole = len(ordered), float(np.square(ordered).sum())
    sizes = np.arange(1, n)
    below = np.cumsum(ordered)[:-1]
    # The whole sum is 0: what the two groups explain follows from the sum of one of them.
    between = np.square(below) * n / (sizes * (n - sizes))
    place = int(np.argmax(between))
    if not whole or between[place] < CLEAR * whole:
        return None
    found: npt.NDArray[np.bool_] = logs - logs.mean() > math.fsum(ordered[place : place + 2]) / 2
    return found
