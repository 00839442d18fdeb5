"""Many series at once: in which of them the segmentation plainly finds no step. Pure.

`steps.segmentation` spends nearly all of its time on the kernel of each pair of values. Here NumPy
looks each pair up in all series at once, in single precision: the kernel follows from the
difference of two ranks. This only sorts out series that are
plainly without a step; whoever calls it segments all others one by one.

**Why the answer is the same.** Let c(s, t) be the cost of one level of the values s to t, and b the
penalty of a step. Suppose that c(0, s) + c(s, t) + b > c(0, t) for every s and t: whenever the
series had ended, one step would not have paid. Then several steps never pay either, because the
best segmentation before the last of them is one level again. PELT gives the same answer, because
under this condition it never drops its first candidate, which is no step at all.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from observatory.analyze.history.steps import PARAMETERS, Values, kernel_width

_TOGETHER = 600_000
"""Values that are looked at together: more do not fit into the caches of a processor."""
_WORTH_IT = 64
"""Series: for fewer, calling NumPy takes longer than segmenting each."""
_LONGEST = 1000
"""Values of a series: the time grows with their square, and segmenting is quicker beyond."""
_CLIPPED = 1e-2, 1e2
"""`ruptures` keeps the exponent of the kernel within these bounds, so that even the kernel of a
value with itself is less than 1."""
_PLAINLY = 1 + 1e-4
"""A margin: rounding errors of a thousand sums in single precision are much smaller."""


def steady(ranks: Values, weight: float) -> npt.NDArray[np.bool_]:
    """Which rows are plainly without a step.

    ``ranks``: those of a series in each row, from 1, all different. ``weight``: the penalty of a
    step in units of ln n.
    """
    rows, n = ranks.shape
    found = np.zeros(rows, np.bool_)
    if n > _LONGEST:
        return found
    each = max(_WORTH_IT, _TOGETHER // max(1, n))
    for first in range(0, rows, each):
        some = slice(first, first + each)
        if len(ranks[some]) >= _WORTH_IT:
            found[some] = _steady(ranks[some], weight * math.log(n))
    return found


def _steady(ranks: Values, step: float) -> npt.NDArray[np.bool_]:
    """The same; ``step`` is the penalty."""
    rows, n = ranks.shape
    fewest = PARAMETERS.fewest
    # By the difference of two ranks, which is at least 1 - n: a table that stays in the cache.
    apart = np.arange(1 - n, n) / (n * kernel_width(n))
    kernel = np.exp(-np.clip(np.square(apart), *_CLIPPED)).astype(np.float32)
    itself = float(kernel[n - 1])
    place = np.ascontiguousarray(ranks.T.astype(np.intp) - 1)
    pair, value = np.empty((n, rows), np.intp), np.empty((n, rows), np.float32)
    # By s: the kernel of the values s to t, summed over all pairs and over each with itself.
    sums = np.zeros((n, rows), np.float32)
    # By s: the cost of one level of the values before s, less what each has with itself.
    before = np.zeros((n + 1, rows), np.float32)
    found = np.ones(rows, np.bool_)
    for t in range(1, n + 1):
        np.subtract(place[:t], place[t - 1] - (n - 1), out=pair[:t])
        np.take(kernel, pair[:t], out=value[:t], mode="clip")  # "raise" would copy
        for s in range(t - 1, 0, -1):  # NumPy's own sum along this axis takes four times as long
            np.add(value[s - 1], value[s], out=value[s - 1])
        sums[:t] += value[:t]
        # A cost needs each pair in both orders, but each value with itself once.
        whole = itself * (t + 1) - 2 * sums[0] / t
        before[t] = whole - itself * t
        if t >= 2 * fewest:
            split = np.arange(fewest, t - fewest + 1)
            after = value[fewest : t - fewest + 1]
            np.multiply(sums[split[0] : split[-1] + 1], _column(-2 / (t - split)), out=after)
            after += before[split[0] : split[-1] + 1]
            found &= after.min(axis=0) + (itself * (t + 1) + step) > whole * _PLAINLY
    return found


def _column(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    return values.astype(np.float32)[:, None]
