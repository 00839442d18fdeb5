"""Two sets of values of one noisy metric: a test, an interval, control of false discoveries. Pure.

The values are one for each process, of processes that were interleaved. A test inside one run
cannot see the variance between runs; this one sees nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from observatory.record.comparison import Conclusion, Ratio

FEWEST = 7
"""Processes a side below which a noisy metric is not judged: 7 against 7 can be split in 3,432
ways, so that the smallest two-sided p is 0.0006; with 5 a side it would be 0.008."""
LOOKS = (FEWEST, 10, 15)
"""Processes a side after which the values are looked at. Each look is a chance of a false alarm:
p-values are multiplied by their number (Bonferroni)."""
FALSE_DISCOVERY_RATE = 0.05
CONFIDENCE = 0.95
DEFAULT_MINIMUM_EFFECT = 0.05
"""Relative change that counts on a machine that was never calibrated."""

_PERMUTATIONS = 9_999
_BOOTSTRAPS = 2_000


@dataclass(frozen=True)
class Tested:
    """The ratio HEAD/BASE of the medians, and how often chance alone gives one as far from 1."""

    ratio: Ratio
    p_value: float


def tested(base: Sequence[float], head: Sequence[float], seed: int) -> Tested:
    """Compare two sets of at least two positive values each.

    Two-sided permutation test on the difference of the mean logarithms (scipy; exact up to 7
    a side) and a percentile bootstrap of the ratio of the medians (Efron & Tibshirani 1993).
    Raises ValueError for fewer values or values that are not positive.
    """
    old, new = np.asarray(base, dtype=float), np.asarray(head, dtype=float)
    if min(len(old), len(new)) < 2 or min(old.min(), new.min()) <= 0:
        raise ValueError("a ratio needs at least two positive values on each side")
    estimate = float(np.median(new) / np.median(old))
    if np.ptp(old) == 0 and np.ptp(new) == 0:
        # Constant on both sides: resampling has nothing to vary.
        interval = Ratio(estimate=estimate, low=estimate, high=estimate, confidence=CONFIDENCE)
        return Tested(interval, _p_value(np.log(old), np.log(new), seed))
    found = stats.bootstrap(
        (new, old),
        _ratio_of_medians,
        n_resamples=_BOOTSTRAPS,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    ratio = Ratio(
        estimate=estimate, low=float(found.low), high=float(found.high), confidence=CONFIDENCE
    )
    return Tested(ratio, _p_value(np.log(old), np.log(new), seed))


def discoveries(p_values: Sequence[float]) -> list[float]:
    """q-values over all cells, and over all looks: Benjamini & Hochberg on Bonferroni's p."""
    if not p_values:
        return []
    over_looks = np.minimum(1.0, np.asarray(p_values) * len(LOOKS))
    return [float(q) for q in stats.false_discovery_control(over_looks, method="bh")]


def conclude(ratio: Ratio, q_value: float, minimum_effect: float) -> Conclusion:
    """What one noisy metric of one cell comes to."""
    above, below = 1 + minimum_effect, 1 / (1 + minimum_effect)
    if q_value <= FALSE_DISCOVERY_RATE:
        if ratio.estimate >= above and ratio.low > 1:
            return "worse"
        if ratio.estimate <= below and ratio.high < 1:
            return "better"
    return "unaffected" if below <= ratio.low and ratio.high <= above else "undecided"


def _p_value(old: np.ndarray, new: np.ndarray, seed: int) -> float:
    found = stats.permutation_test(
        (old, new),
        _difference_of_means,
        vectorized=True,
        n_resamples=_PERMUTATIONS,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def _difference_of_means(old: np.ndarray, new: np.ndarray, axis: int = -1) -> Any:
    return new.mean(axis=axis) - old.mean(axis=axis)


def _ratio_of_medians(new: np.ndarray, old: np.ndarray, axis: int = -1) -> Any:
    return np.median(new, axis=axis) / np.median(old, axis=axis)
