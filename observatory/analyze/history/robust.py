"""Medians, ranks, correlations and slopes of short series, as NumPy and SciPy give them. Pure.

The detector asks for hundreds of thousands of them. `np.median` takes 20 microseconds beside the
work, and the import of `scipy.stats` more than all other work of a night. The results are the same
to the last bit: tests compare them.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
_Z = -NormalDist().inv_cdf(0.025)


def median(values: Values) -> float:
    """The median of at least one finite value, as `np.median` gives it."""
    n = len(values)
    middle = n // 2
    ordered = values.copy()
    if n % 2:
        ordered.partition(middle)
        return float(ordered[middle])
    ordered.partition((middle - 1, middle))
    low, high = ordered[middle - 1 : middle + 1].tolist()
    return float((low + high) / 2)


def medians(values: Values) -> Values:
    """The median of each row of an array of finite values."""
    n = values.shape[1]
    lower, upper = (n - 1) // 2, n // 2
    ordered = np.partition(values, sorted({lower, upper}), axis=1)
    found: Values = (ordered[:, lower] + ordered[:, upper]) / 2
    return found


def all_equal(values: Values) -> bool:
    """Whether all of at least one finite value are the same; a look at both ends mostly decides."""
    return bool(values[0] == values[-1] and (values == values[0]).all())


def ranks(values: Values) -> Values:
    """Ranks from 1; equal values have the mean of theirs, as `scipy.stats.rankdata` gives them."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    found = np.empty(len(values))
    first = np.empty(len(values), np.bool_)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    if first.all():
        found[order] = np.arange(1, len(values) + 1)
        return found
    starts = np.flatnonzero(first)
    counts = np.diff(starts, append=len(values))
    found[order] = np.repeat(0.5 * (2 * starts + 1 + counts), counts)
    return found


def trend(values: Values) -> float:
    """The correlation of the ranks of at least two different values with time (Spearman's).

    As `np.corrcoef` gives it: all sums are of multiples of a quarter, so none of them is rounded.
    """
    n = len(values)
    time, first = _centred(n)
    own = ranks(values) - (n + 1) / 2
    shared, second = (float(np.dot(own, other)) * (1 / (n - 1)) for other in (time, own))
    return max(-1.0, min(1.0, shared / math.sqrt(first) / math.sqrt(second)))


def trends(ranks: Values) -> Values:
    """`trend` of each row, of its ranks, which are all different."""
    n = ranks.shape[1]
    time, variance = _centred(n)
    shared = (ranks - (n + 1) / 2) @ time * (1 / (n - 1))
    found: Values = np.clip(shared / math.sqrt(variance) / math.sqrt(variance), -1.0, 1.0)
    return found


@lru_cache(maxsize=1024)
def _centred(n: int) -> tuple[Values, float]:
    """The places of n values less their mean, and their variance."""
    time = np.arange(n, dtype=np.float64) - (n - 1) / 2
    return time, float(np.dot(time, time)) * (1 / (n - 1))


def theil_sen(values: Values, time: Values) -> tuple[float, float, float]:
    """Theil & Sen's slope with its interval of 95 %, as `scipy.stats.theilslopes` gives it.

    ``time``: at least two values, each larger than the one before.
    """
    later, earlier = _all_pairs(len(values))
    slopes = (values[later] - values[earlier]) / (time[later] - time[earlier])
    n, pairs = len(values), len(slopes)
    ordered = np.sort(values)
    tied = 0
    if (ordered[1:] == ordered[:-1]).any():
        ties = np.unique(values, return_counts=True)[1]
        tied = sum(int(k) * (int(k) - 1) * (2 * int(k) + 5) for k in ties if k > 1)
    spread = _Z * math.sqrt(1 / 18.0 * (n * (n - 1) * (2 * n + 5) - tied))
    upper = min(round((pairs + spread) / 2.0), pairs - 1)
    lower = max(round((pairs - spread) / 2.0) - 1, 0)
    centre = pairs // 2
    wanted = [lower, centre - 1 + pairs % 2, centre, upper]
    # These must be in their places; to sort all of them takes four times as long.
    slopes.partition(sorted(set(wanted)))
    least, below, above, most = slopes[wanted].tolist()
    return above if pairs % 2 else (below + above) / 2, least, most


@lru_cache(maxsize=64)
def _all_pairs(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The places of all pairs of n values: of the later one, and of the earlier."""
    return np.tril_indices(n, -1)
