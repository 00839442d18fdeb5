"""Tests of two sets of noisy values, with intervals and a false-discovery rate. Pure.

Each value is that of one process, and the processes of both sides were interleaved. A test inside
one run cannot see the variance between runs; this one sees nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its statistics take a second to import: they are when they are first asked for

from observatory.analyze.chance import FALSE_DISCOVERY_RATE, FEWEST
from observatory.store.records.comparison import Conclusion, Ratio

LOOKS = {FEWEST: 3.25, 10: 3.25, 15: 3.25, 30: 13.0}
"""Processes a side after which the values are looked at, and what a p is multiplied by then.

Each look is a chance of a false alarm. The inverses add up to 1 (Bonferroni with weights: Holm
1979): nearly all of the chance belongs to the looks that most comparisons end with, and little to
that of cells which a noisy machine leaves undecided, where many processes make p small."""
PAIRED_FROM = 12
"""From so many pairs on, their differences are tested too. The signs of 10 can be flipped in 1,024
ways: a p of 0.002 at best, which no false-discovery control over some cells lets pass."""
CONFIDENCE = 0.95
SEPARATED = 0.001
"""More than p can be of two sides of PAIRED_FROM values or more that do not overlap: one of
2,704,156 ways to split 24 values is as extreme, in each direction."""
DEFAULT_MINIMUM_EFFECT = 0.05
"""Relative change that counts on a machine that was never calibrated."""

_EXACT = 120
"""The most values a side whose exact distribution is computed: 20 ms, and 15 s for 420."""
_PERMUTATIONS = 39_999
"""Exact for 15 pairs (32,768 signs)."""
_BOOTSTRAPS = 2_000
_MOST_AT_ONCE = 4_000_000
"""Pairs of values of which a statistic is computed at a time: 32 MB."""

Logs = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Tested:
    """The ratio of HEAD's values to BASE's, and how often chance alone gives one as far from 1."""

    ratio: Ratio
    p_value: float
    over_looks: float
    """The smallest p of all looks so far, each multiplied by its factor of `LOOKS`: also a p.

    What was found at one look is so not lost at the next.
    """


def tested(
    base: Sequence[float],
    head: Sequence[float],
    seed: int,
    *,
    paired: bool,
    look: int | None = None,  # noqa: PT028 (no test)
) -> Tested:
    """Compare two sets of at least two positive values each, in the order in which they were taken.

    Two-sided tests on ranks, which no outlier moves far (scipy): of all values (Mann & Whitney
    1947), and of the differences within pairs (Wilcoxon 1945). They are exact; where values tie, or
    are many, they are permutation tests of the same statistics, exact up to 8 a side.
    ``paired``: value ``i`` of both sides was taken side by side. Pairs tell where the machine
    changed its speed meanwhile, all values where single ones are far off; from PAIRED_FROM pairs on
    the smaller p of both counts, twice (Bonferroni). Fewer pairs have too few signs to flip.

    The ratio is Hodges & Lehmann's estimate (1963) that belongs to the test with the smaller p,
    with a percentile bootstrap (Efron & Tibshirani 1993).

    ``look``: the processes a side of each cell, where the values are of several cells together and
    their order says nothing of earlier looks.

    Raises ValueError for fewer values or values that are not positive.
    """
    old, new = np.asarray(base, dtype=float), np.asarray(head, dtype=float)
    if min(len(old), len(new)) < 2 or min(old.min(), new.min()) <= 0:
        raise ValueError("a ratio needs at least two positive values on each side")
    old, new = np.log(old), np.log(new)
    p_value, by_pairs = _p_of(old, new, seed, paired)
    if by_pairs:
        ratio = _interval((new - old,), _median_of_averages, seed)
    else:
        ratio = _interval((new, old), _median_of_differences, seed)
    taken = min(len(old), len(new)) if look is None else look
    most = max(LOOKS.values())
    weighted = [p_value * next((times for one, times in LOOKS.items() if taken <= one), most)]
    if look is None:
        for earlier, times in list(LOOKS.items())[:-1]:
            if earlier < taken:
                weighted.append(_p_of(old[:earlier], new[:earlier], seed, paired)[0] * times)
    return Tested(ratio, p_value, min(1.0, *weighted))


def foreseen(
    sides: Sequence[tuple[Sequence[float], Sequence[float], float]], seed: int
) -> list[Tested] | None:
    """Substitutes for the tests of one metric's cells; None if `conclude` might differ.

    ``sides``: the values of BASE and HEAD, at least FEWEST each and no pairs, and the minimum
    effect. A ratio within the minimum effect is neither worse nor better, whatever p is. Where all
    values of one side are above all of the other, no permutation is as extreme, and no resample
    changes the direction. p is 1 of the former and SEPARATED of the latter; both are too high.
    """
    found = []
    for base, head, smallest in sides:
        old, new = np.log(np.asarray(base, dtype=float)), np.log(np.asarray(head, dtype=float))
        estimate = float(np.exp(hodges_lehmann(old, new)))
        low, high = float(np.exp(new.min() - old.max())), float(np.exp(new.max() - old.min()))
        extremes = Ratio(estimate=estimate, low=low, high=high, confidence=None)
        above, below = 1 + smallest, 1 / (1 + smallest)
        if below < estimate < above:
            # No interval is wider than the range of all ratios.
            sure = below <= low and high <= above
            ratio = extremes if sure else _interval((new, old), _median_of_differences, seed)
            found.append(Tested(ratio, 1.0, 1.0))
        elif (low > 1 or high < 1) and min(len(old), len(new)) >= PAIRED_FROM:
            found.append(Tested(extremes, SEPARATED, SEPARATED * max(LOOKS.values())))
        else:
            return None
    clear = sum(one.p_value < 1 for one in found)
    worst = SEPARATED * max(LOOKS.values()) * len(found) / max(clear, 1)
    return found if worst <= FALSE_DISCOVERY_RATE or not clear else None


def discoveries(found: Sequence[tuple[str, float]]) -> list[float]:
    """q-values of (metric, p over all looks), in their order: each metric over all its cells.

    Benjamini & Hochberg.
    """
    metrics = np.array([metric for metric, _ in found])
    p_values = np.array([p_value for _, p_value in found])
    q_values = np.ones(len(found))
    for metric in set(metrics):
        own = metrics == metric
        q_values[own] = scipy.stats.false_discovery_control(p_values[own], method="bh")
    return q_values.tolist()


def conclude(ratio: Ratio, q_value: float, minimum_effect: float) -> Conclusion:
    """The conclusion on one noisy metric of one cell.

    ``ratio``: of head to base. ``q_value``: as `discoveries` returns it.
    ``minimum_effect``: the smallest relative change that counts.
    """
    above, below = 1 + minimum_effect, 1 / (1 + minimum_effect)
    if q_value <= FALSE_DISCOVERY_RATE:
        if ratio.estimate >= above and ratio.low > 1:
            return "worse"
        if ratio.estimate <= below and ratio.high < 1:
            return "better"
    return "unaffected" if below <= ratio.low and ratio.high <= above else "undecided"


def hodges_lehmann(old: Logs, new: Logs) -> Logs:
    """The median of all differences between values of two sides, along the last axis."""
    apart = new[..., :, None] - old[..., None, :]
    return np.median(apart.reshape(*apart.shape[:-2], -1), axis=-1)


def _interval(sides: tuple[Logs, ...], statistic: Callable[..., Any], seed: int) -> Ratio:
    """The ratio that a statistic of logarithms gives, and its bootstrap interval."""
    estimate = float(np.exp(statistic(*sides)))
    if all(np.ptp(side) == 0 for side in sides):
        # Constant on both sides: resampling has nothing to vary.
        return Ratio(estimate=estimate, low=estimate, high=estimate, confidence=CONFIDENCE)
    found = scipy.stats.bootstrap(
        sides,
        statistic,
        n_resamples=_BOOTSTRAPS,
        batch=max(1, _MOST_AT_ONCE // max(map(len, sides)) ** 2),
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    low, high = np.exp([found.low, found.high])
    return Ratio(estimate=estimate, low=float(low), high=float(high), confidence=CONFIDENCE)


def _p_of(old: Logs, new: Logs, seed: int, paired: bool) -> tuple[float, bool]:
    """The p of two sides, and whether the test of their pairs gave it."""
    p_value = _p_of_sides(old, new, seed)
    if not paired or len(old) != len(new) or len(old) < PAIRED_FROM:
        return p_value, False
    of_pairs = _p_of_differences(new - old, seed)
    return min(2 * p_value, 2 * of_pairs, 1.0), of_pairs <= p_value


def _p_of_sides(old: Logs, new: Logs, seed: int) -> float:
    both = np.concatenate([old, new])
    if max(len(old), len(new)) <= _EXACT and _differ(both):
        return float(scipy.stats.mannwhitneyu(old, new, method="exact").pvalue)
    ranks = scipy.stats.rankdata(both)
    sides = ranks[: len(old)], ranks[len(old) :]
    return _permuted(sides, "independent", lambda a, b, axis=-1: b.mean(axis) - a.mean(axis), seed)


def _p_of_differences(differences: Logs, seed: int) -> float:
    sizes = np.abs(differences)
    if len(sizes) <= _EXACT and sizes.all() and _differ(sizes):
        return float(scipy.stats.wilcoxon(differences, method="exact").pvalue)
    signed = np.sign(differences) * scipy.stats.rankdata(sizes)
    return _permuted((signed,), "samples", lambda a, axis=-1: a.mean(axis), seed)


def _differ(values: Logs) -> bool:
    """Whether no two of the values are equal."""
    return len(np.unique(values)) == len(values)


def _permuted(
    sides: tuple[Logs, ...], kind: str, statistic: Callable[..., Any], seed: int
) -> float:
    found = scipy.stats.permutation_test(
        sides,
        statistic,
        permutation_type=kind,
        vectorized=True,
        n_resamples=_PERMUTATIONS,
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)


def _median_of_differences(new: Logs, old: Logs, axis: int = -1) -> Any:
    return hodges_lehmann(np.moveaxis(old, axis, -1), np.moveaxis(new, axis, -1))


def _median_of_averages(differences: Logs, axis: int = -1) -> Any:
    """The median of the averages of all pairs of differences (Walsh averages)."""
    last = np.moveaxis(differences, axis, -1)
    left, right = np.triu_indices(last.shape[-1])
    return np.median((last[..., left] + last[..., right]) / 2, axis=-1)
