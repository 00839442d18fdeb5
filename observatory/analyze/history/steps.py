"""Steps in one series of noisy values over time. Pure.

Method: kernel change point detection (Arlot, Celisse & Harchaoui, JMLR 20, 2019), by `ruptures`'
KernelCPD with PELT (Killick, Fearnhead & Eckley 2012), on the *ranks* of the values rather than
on the values. The kernel is narrow: after a step values come in ranks where few came before, and
that is seen even where noise has several modes (hosted machines of several kinds), heavy tails or
outliers, and means and medians hardly move.

Ranks also make the rate of false alarms known beforehand. The ranks of n independent values are
a random permutation whatever the values are, so that the penalty which one series in 700 exceeds
by chance depends on n alone: PENALTIES, from scripts/accuracy/detector_penalties.py. Real noise is
not independent; `observatory evaluate-detector` measures what that does. The kernel's width and the
smallest step were chosen on half of the series of two projects, and are reported on the other half
(docs/detector.md).

Values around a step may have two modes: many slow runs beside many fast ones, because hosted
machines are of two kinds or a cache is hit now and then. When their shares change, the median may
jump from one centre to the other while the median of the ratios of all pairs (Hodges & Lehmann)
stays or jumps elsewhere. No single ratio describes such a step; the two centres and the shares do.
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
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from observatory.analyze.history.kernel import segmenter
from observatory.analyze.history.robust import all_equal, median
from observatory.store.records.alerts import Modes, described_by_ratio

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Parameters:
    """The parameters of the detector, which were chosen by evaluation."""

    width: float = 1 / 17
    """The distance at which the kernel has fallen to 1/e, as a share of all ranks ..."""
    narrowest: float = 4.0
    """... and in ranks, at least."""
    fewest: int = 5
    """Values between two steps, and before the first and after the last."""
    smallest: float = 0.02
    """Relative change of the level; a step that is surely smaller is not reported ..."""
    weakest: float = 0.75
    """... nor one whose estimate is below so much of it, however unsure."""


PARAMETERS = Parameters()
FEWEST = 2 * PARAMETERS.fewest
"""The number of values that a series needs to be judged."""
CONFIDENCE = 0.95
_DEVIATIONS = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
NEAREST = 300
"""Values on either side of a step from which its size is estimated, at most."""
_ENOUGH = 100
_PLAINLY = 1 + 1e-9
"""A margin for what is rounded."""
CLEAR = 0.75
BOTH = 0.1
MOVED = 0.05
PENALTIES = (
    (10, 1.112), (12, 1.284), (14, 1.289), (16, 1.297), (18, 1.224),
    (20, 1.199), (25, 1.085), (30, 1.015), (35, 0.951), (40, 0.888),
    (50, 0.772), (60, 0.718), (80, 0.654), (100, 0.648), (120, 0.648),
    (150, 0.623), (200, 0.618), (300, 0.596), (500, 0.537), (1000, 0.527),
)  # fmt: skip
"""The penalty of one more step by n, in units of ln n: one permutation in 700 exceeds it."""


@dataclass(frozen=True)
class Step:
    """A change of level: ``index`` is the first value of the new one.

    ``before`` and ``after`` are observed: the medians of the two levels. ``ratio`` is an estimate
    of new to old (Hodges & Lehmann) with its distribution-free interval, between the neighbouring
    steps, or NaN. ``modes`` is there where values have two modes and no ratio describes the step.
    """

    index: int
    before: float
    after: float
    ratio: float
    low: float
    high: float
    modes: Modes | None = None

    @property
    def worse(self) -> bool:
        """Whether it goes up: higher is worse, always."""
        return self.after > self.before if math.isnan(self.ratio) else self.ratio > 1


def change_points(
    values: Sequence[float] | Values, smallest: float = PARAMETERS.smallest
) -> list[int]:
    """The indices at which new levels begin, ascending. ``values``: finite, in the order of time.

    ``smallest``: a relative change; steps that are surely smaller are left out. Fewer than FEWEST
    values have no steps.
    """
    array = np.asarray(values, dtype=float)
    n = len(array)
    if n < FEWEST or all_equal(array):
        return []
    return _material(array, segmentation(array, penalty(n)), smallest)


def segmentation(values: Values, weight: float) -> list[int]:
    """The places of the best segmentation of the ranks; ``weight``: penalty in units of ln n."""
    ranks = np.empty(len(values))
    ranks[ranked(values)] = np.arange(1, len(values) + 1)
    return segmented_ranks(ranks, weight)


def ranked(values: Values) -> npt.NDArray[np.intp]:
    """The places of values, the smallest value first."""
    return np.lexsort((_tie_breaker(len(values)), values))


def segmented_ranks(ranks: Values, weight: float) -> list[int]:
    """The same of ranks from 1, all different."""
    n = len(ranks)
    signal = ranks.reshape(-1, 1) / n
    return segmenter()(signal, weight * math.log(n), PARAMETERS.fewest, 1 / kernel_width(n) ** 2)


def kernel_width(n: int) -> float:
    """The distance at which the kernel has fallen to 1/e, as a share of n ranks."""
    return max(PARAMETERS.width, PARAMETERS.narrowest / n)


@lru_cache(maxsize=1024)
def _tie_breaker(n: int) -> npt.NDArray[np.int64]:
    """Ties are broken at random: among equal values nothing may look like an order."""
    return np.random.default_rng(n).permutation(n)


@lru_cache(maxsize=1024)
def penalty(n: int) -> float:
    """The penalty of a step in a series of n values, in units of ln n."""
    sizes, penalties = zip(*PENALTIES, strict=True)
    return float(np.interp(math.log(n), np.log(sizes), penalties))


def sized(values: Values, place: int, within: tuple[int, int]) -> Step:
    """The step at ``place``, measured on the values from ``within[0]`` to before ``within[1]``.

    The medians are those of all values of the two levels. For the ratio and the modes of long
    levels the NEAREST values on either side stand for all: pairs are many.
    """
    old, new = values[within[0] : place], values[place : within[1]]
    before, after = median(old), median(new)
    old, new = _nearest(old, new)
    ratio, low, high = shift(old, new)
    modes = None
    if not math.isnan(low) and not described_by_ratio(after / before, low, high):
        modes = two_modes(old, new, ratio > 1)
    return Step(place, before, after, ratio, low, high, modes)


def shift(old: Values, new: Values) -> tuple[float, float, float]:
    """The ratio of two sets of positive values with its interval (Hodges & Lehmann 1963).

    The estimate is the median of the ratios of all pairs; the interval is between the order
    statistics of them that the rank-sum test does not reject, by its normal approximation
    (Lehmann, Nonparametrics, 1975). Where a value is not positive: NaN. So few values that no
    interval has this confidence give a ratio alone.
    """
    if min(old.min(), new.min()) <= 0:
        return math.nan, math.nan, math.nan
    m, k = len(old), len(new)
    ratios = np.divide.outer(new, old).ravel()
    out = int(m * k / 2 - _DEVIATIONS * math.sqrt(m * k * (m + k + 1) / 12))
    low, high = max(out, 0), m * k - 1 - max(out, 0)
    middle = (m * k - 1) // 2, m * k // 2
    ratios.partition((low, *middle, high))
    median = float(ratios[middle[0]] + ratios[middle[1]]) / 2
    if 1 - 2 / math.comb(m + k, m) < CONFIDENCE:
        return median, math.nan, math.nan
    return median, float(ratios[low]), float(ratios[high])


def ratio(old: Values, new: Values) -> float:
    """Only the ratio of two levels, from at most _ENOUGH values of each; NaN as for `shift`."""
    old, new = (values[:: math.ceil(len(values) / _ENOUGH)] for values in (old, new))
    if min(old.min(), new.min()) <= 0:
        return math.nan
    return median(np.divide.outer(new, old).ravel())


def _material(values: Values, places: list[int], smallest: float) -> list[int]:
    """The places of large enough steps: surely smaller ones are removed, the smallest first."""
    kept = [0, *places, len(values)]

    def apart(number: int) -> float:
        before, place, after = kept[number - 1 : number + 2]
        old, new = _nearest(values[before:place], values[place:after])
        return math.inf if _disjoint(old, new, smallest) else _at_most(old, new, smallest)

    changes = [apart(number) for number in range(1, len(kept) - 1)]
    while changes:
        least = changes.index(min(changes))
        if changes[least] >= smallest:
            break
        del kept[least + 1], changes[least]
        # The levels on both sides have become one: the steps next to it are of another size.
        for number in range(max(least - 1, 0), min(least + 1, len(changes))):
            changes[number] = apart(number + 1)
    return kept[1:-1]


def _nearest(old: Values, new: Values) -> tuple[Values, Values]:
    """The values of two levels that are nearest to where they meet."""
    return old[-NEAREST:], new[:NEAREST]


def _disjoint(old: Values, new: Values, smallest: float) -> bool:
    """Whether each value of one level exceeds each of the other by more than ``smallest``."""
    low, high = sorted(((old.min(), old.max()), (new.min(), new.max())))
    return bool(low[0] > 0 and high[0] > low[1] * (1 + smallest) * _PLAINLY)


def _at_most(old: Values, new: Values, smallest: float) -> float:
    """The largest relative change of the level that its interval holds; infinite from or to 0.

    The estimate alone would leave out every second step of exactly the smallest size. It counts
    where it is far below that, which happens where noise is large.
    """
    if min(old.min(), new.min()) > 0:
        ratio, low, high = shift(old, new)
        apart = max(ratio, 1 / ratio) - 1
        weak = math.isnan(low) or apart < PARAMETERS.weakest * smallest
        return apart if weak else max(high, 1 / low) - 1
    a, b = median(old), median(new)
    low, high = sorted((abs(a), abs(b)))
    if a == b:
        return 0.0
    return math.inf if low == 0 or (a < 0) != (b < 0) else high / low - 1


def two_modes(old: Values, new: Values, worse: bool) -> Modes | None:
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
        lower, upper_ = median(values[~upper]), median(values[upper])
        return Modes(lower=lower, upper=upper_, before=before, after=after)
    if not all(mixed):
        return None
    (low, high), moved = (
        (median(level[~side]), median(level[side]))
        for level, side in zip((old, new), sides, strict=True)
    )
    if (moved[0] > low) != worse or (moved[1] > high) != worse:
        return None
    return Modes(lower=low, upper=high, before=before, after=after, moved=moved)


def _upper(logs: Values) -> npt.NDArray[np.bool_] | None:
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
