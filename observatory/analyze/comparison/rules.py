"""The rules of verdicts: which change of which metric is worse. Pure.

`observatory compare` applies them to the values of two sides, pages to the values that were
recorded, and the compare page receives them as data. In every metric a higher value is worse.

exact
    Plain inequality, no threshold, unless the metric has a floor. A count that differs between two
    samples of one side is not deterministic and is not judged.
near_exact
    Changed where the values of the two sides are further apart than values of one subject are;
    worse where the change of the means is sure to exceed the floor, if the metric can be worse at
    all. A change at the floor is so no alarm in one run and none in the next (as in tests of
    minimum effects: Murphy & Myors 1999). The more samples, the smaller a change is sure. Where
    chance adds to many values at a time, all values of one side must exceed all of the other.
noisy
    Two sides: a test (`noisy`). Two subjects of a history without samples: the
    levels that their series is cut into. Too short for levels: the intervals of both values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, median_high, median_low
from typing import Literal

from observatory.analyze.series_keys import SeriesKey
from observatory.benchmarks.catalogue import (
    ABLATIONS,
    METRICS,
    SCENARIOS,
    STEADY,
    Kind,
    Metric,
)
from observatory.store.records.comparison import Conclusion, Ratio

SMALLEST_STEP = 0.02
"""Relative change of a level below which a step is not reported."""
LEAST_IN_RUN = 0.05
"""Relative change that counts between the rounds of two runs: as on an uncalibrated machine."""
JUDGED_NOISY = tuple(name for name, one in METRICS.items() if one.judged)
"""The parts of compile_time are evidence and are not judged beside it."""
JUDGED = (
    *(n for n, one in METRICS.items() if one.kind == "near_exact" and one.noise_is_learned),
    *JUDGED_NOISY,
)
"""The metrics whose noise is learned and decides."""
COUNTED = 3
"""Samples a side of the comparisons from which the spread of a near-exact metric is learned."""
LEARNED = 4 * COUNTED
"""Samples of one subject from which a learned spread may be below the default of its metric. Fewer
may agree by chance, and only widen it."""
LEAST_SPREAD = 0.0005
"""No learned spread is smaller: two environments of one subject differ by as much."""
MOST_SPREAD = 4
"""Times the default of a metric: no learned spread is larger, so that odd samples blind nobody."""
ONCE = tuple(name for name, one in METRICS.items() if one.once)
"""Metrics that are the same in every cell: judged once for a model, under its first cell."""


@dataclass(frozen=True)
class Noise:
    """What chance does to a metric in a cell, learned from samples of one subject."""

    change: float
    """The relative change between the values of two sides that one comparison in a hundred exceeds;
    near exact: between COUNTED values and COUNTED others."""
    samples: int
    source: str | None = None
    """What counted them; counts of other sources vary by other amounts."""


@dataclass(frozen=True)
class Rule:
    """How one metric of one cell is judged."""

    kind: Kind
    judged: bool
    """Whether a change can be worse or better; otherwise it only describes the workload."""
    correctness: bool = False
    """Whether a side is judged by its highest value: one wrong result is one too many."""
    spread: float = 0.0
    """Near exact: the relative change that one pair in a hundred of values of one subject exceeds.
    Between means it is smaller by the root of the number of values."""
    material: float | None = None
    """The floor, a relative change. Near exact: what surely exceeds it is worse or better. Exact:
    what exceeds it is; None: every change is."""
    resolution: float = 0.0
    """Near exact: smaller values count as this one."""
    smallest: float = 0.0
    """Noisy: the smallest relative change between two levels that counts."""
    samples: int = 0
    """Near exact: of which ``spread`` was learned; 0: it is the default of the metric."""
    all_of: int = 1
    """Near exact: where it is more than one, as many values of each side must be there, and all of
    one side beyond all of the other."""
    of_cpu: bool = False
    """Near exact: whether values of two CPUs differ for that alone, as those of memory do, and are
    not judged. Work is not among them: what counted it says for which CPU."""
    once: bool = False
    """Noisy: whether two sides have one verdict on all cells of a model, under the first cell."""

    def resolved(self, values: Sequence[float]) -> Sequence[float]:
        """The values as they are compared: none is below the resolution."""
        return [max(value, self.resolution) for value in values] if self.resolution else values

    def sure(self, base: int = 1, head: int = 1) -> float:
        """Near exact: the ratio of means of so many values from which HEAD is worse.

        Infinite if it cannot be.
        """
        if self.material is None:
            return math.inf
        return (1 + self.material) * (1 + self.spread * math.sqrt((1 / base + 1 / head) / 2))


@dataclass(frozen=True)
class Concluded:
    """The result of applying a rule to the values of two sides."""

    conclusion: Conclusion
    ratio: Ratio | None = None
    """Near exact, where every value is positive."""
    uneven: Literal["BASE", "HEAD"] | None = None
    """The side whose counts differ between its own samples."""


def rule_of(
    metric: Metric, scenario: str, noise: Noise | None = None, source: str | None = None
) -> Rule:
    """The rule of one of our metrics.

    ``noise``: what was learned of it in this cell, if anything.
    ``source``: what counted work, in the words of samples.
    """
    if metric.kind == "exact":
        alerts, correctness = metric.alerts_in(scenario), bool(metric.even_if_same)
        return Rule("exact", alerts, correctness, material=metric.material)
    if metric.kind == "near_exact":
        steady = metric.steady is not None and source is not None and STEADY in source
        usual = metric.steady if steady and metric.steady else metric.spread
        known = noise if noise is not None and (noise.source or "") == (source or "") else None
        return Rule(
            "near_exact", judged=metric.material is not None, spread=_spread(usual, known),
            material=metric.material, samples=known.samples if known else 0,
            resolution=metric.resolution, all_of=metric.all_of,
            of_cpu=bool(metric.material) and metric.of_cpu and metric.measure != "work",
        )  # fmt: skip
    return Rule("noisy", metric.judged, smallest=SMALLEST_STEP, once=metric.once)


def _spread(usual: float, noise: Noise | None) -> float:
    """Between single values: the learned spread, within its bounds; ``usual`` without one."""
    if noise is None:
        return usual
    least = LEAST_SPREAD if noise.samples >= LEARNED else usual
    return min(max(noise.change * math.sqrt(COUNTED), least), MOST_SPREAD * usual)


_OTHER = Rule("noisy", judged=True, smallest=SMALLEST_STEP)
"""The rule of what is no metric of ours."""


def rule_at(place: SeriesKey, noise: Noise | None = None, source: str | None = None) -> Rule:
    """The rule of a series; everything that is no metric of ours is noisy and judged.

    ``noise`` and ``source``: as `rule_of` has them.
    """
    metric = METRICS.get(place.metric) if place.model else None
    if metric is None:
        return _OTHER
    apart = SCENARIOS[place.scenario].apart and metric.zero != "everywhere"
    if apart and metric.kind != "noisy":
        # A sum over many graphs: two subjects do not have the same ones.
        return Rule(metric.kind, judged=False)
    if metric.all_of > 1 and not SCENARIOS[place.scenario].warm_ups:
        # A disk that is busy at the same hour every night makes each first build wait.
        return Rule(metric.kind, judged=False)
    return rule_of(metric, place.scenario, noise, source)


def best_of(metric: str, scenario: str, backend: str) -> int | None:
    """The right value of an exact metric in one of our cells; None if there is none."""
    known = METRICS.get(metric)
    if known is None or not known.zero_in(scenario):
        return None
    return 0 if known.zero == "everywhere" or backend not in ABLATIONS else None


def conclude(rule: Rule, base: Sequence[float], head: Sequence[float]) -> Concluded:
    """Apply an exact or near-exact rule to two sides with at least one value each."""
    return _near_exact(rule, base, head) if rule.kind == "near_exact" else _exact(rule, base, head)


def conclude_levels(
    rule: Rule, base: float | None, head: float | None, off: bool = False
) -> Conclusion:
    """Apply a noisy rule to the levels that a series had at two subjects.

    ``base``, ``head``: None where the series was not cut into levels. ``off``: whether one of the
    two values is far off its level, so that being in one level proves nothing.
    """
    if not rule.judged or base is None or head is None:
        return "undecided"
    if max(base, head) < min(base, head) * (1 + rule.smallest):
        return "undecided" if off else "unaffected"
    return _against(base, head)


Interval = tuple[float, float, float]
"""A value between the ends of its interval: low, value, high."""


def conclude_run(base: Interval, head: Interval) -> Concluded:
    """What the rounds of one run a side say, by asv's 99 % intervals of the medians.

    The sides differ if the intervals do not overlap and the values are LEAST_IN_RUN apart, and are
    the same if every ratio of the intervals is within that. Rounds of one process are not
    independent runs: another run may differ as much. The script of the compare page does the same.
    """
    if min(*base, *head) <= 0:
        return Concluded("unaffected" if base == head else "undecided")
    ratio = Ratio(
        estimate=head[1] / base[1], low=head[0] / base[2], high=head[2] / base[0], confidence=None
    )
    above, below = 1 + LEAST_IN_RUN, 1 / (1 + LEAST_IN_RUN)
    if below <= ratio.low and ratio.high <= above:
        return Concluded("unaffected", ratio)
    if ratio.low > 1 and ratio.estimate >= above:
        return Concluded("worse", ratio)
    if ratio.high < 1 and ratio.estimate <= below:
        return Concluded("better", ratio)
    return Concluded("undecided", ratio)


def judged_values(
    rule: Rule, base: float | None, head: float | None, off: bool = False
) -> Conclusion:
    """Apply a rule to one number for each side: a recorded value or, if noisy, a level.

    ``off``: as `conclude_levels` has it. The script of the compare page does the same.
    """
    if rule.kind == "noisy":
        return conclude_levels(rule, base, head, off)
    if base is None or head is None:
        return "undecided"
    return conclude(rule, [base], [head]).conclusion


def _exact(rule: Rule, base: Sequence[float], head: Sequence[float]) -> Concluded:
    if not rule.correctness:
        for side, values in (("BASE", base), ("HEAD", head)):
            uneven = max(values) > min(values) * (1 + (rule.material or 0.0))
            if uneven and not _far_apart(base, head):
                return Concluded("undecided", uneven="BASE" if side == "BASE" else "HEAD")
    conclusion = _against(max(base), max(head))
    low, high = sorted((max(base), max(head)))
    small = high <= low * (1 + (rule.material or 0.0))
    if conclusion != "unaffected" and (small or not rule.judged):
        conclusion = "workload changed"
    return Concluded(conclusion)


def _far_apart(base: Sequence[float], head: Sequence[float]) -> bool:
    """Whether all values of one side are above the other's, by more than either side varies.

    A key that depends on the hash seed gives HEAD 35 misses, then 34, where BASE has none.
    """
    apart = max(min(head) - max(base), min(base) - max(head))
    return apart > max(max(base) - min(base), max(head) - min(head))


def _against(before: float, after: float) -> Conclusion:
    if after == before:
        return "unaffected"
    return "worse" if after > before else "better"


def _near_exact(rule: Rule, base: Sequence[float], head: Sequence[float]) -> Concluded:
    ratio = _ratio(base, head)
    base, head = rule.resolved(base), rule.resolved(head)
    if min(*base, *head) <= 0:
        same = len({*base, *head}) == 1
        return Concluded("unaffected" if same else "workload changed")
    low, high = min(head) / max(base), max(head) / min(base)
    if rule.all_of > 1:
        few = min(len(base), len(head)) < rule.all_of
        return Concluded(_all_beyond(rule, low, high, few))
    by, sure, floor = fmean(head) / fmean(base), rule.sure(len(base), len(head)), _floor(rule)
    least, most = _typical(base, head)
    if by >= sure and least >= floor:
        return Concluded("worse", ratio)
    if by <= 1 / sure and most <= 1 / floor:
        return Concluded("better", ratio)
    if 1 / (1 + rule.spread) <= high and low <= 1 + rule.spread:
        return Concluded("unaffected", ratio)
    return Concluded("workload changed", ratio)


def _all_beyond(rule: Rule, low: float, high: float, few: bool) -> Conclusion:
    """Whether every value of HEAD is beyond all of BASE.

    ``low``, ``high``: the range of the ratios of a value of HEAD to one of BASE. ``few``: whether
    there are too few values for more than that nothing changed.
    """
    if low >= rule.sure():
        return "undecided" if few else "worse"
    if high <= 1 / rule.sure():
        return "undecided" if few else "better"
    return "unaffected"


def _ratio(base: Sequence[float], head: Sequence[float]) -> Ratio | None:
    """That of the medians, in the range of all values: HEAD's lowest over BASE's highest, ...

    None where a value has no ratio to others.
    """
    if min(*base, *head) <= 0:
        return None
    low, high = min(head) / max(base), max(head) / min(base)
    return Ratio(estimate=median(head) / median(base), low=low, high=high, confidence=None)


def _typical(base: Sequence[float], head: Sequence[float]) -> tuple[float, float]:
    """The least and the most by which the medians differ: of two values, either may be far off.

    One value that is far off moves a mean: it alone is no change.
    """
    return median_low(head) / median_high(base), median_high(head) / median_low(base)


def _floor(rule: Rule) -> float:
    return 1 + (rule.material or 0.0)


def wants_more(rule: Rule, base: Sequence[float], head: Sequence[float]) -> bool:
    """Whether more values of a near-exact metric may say another thing.

    A change above the floor is not believed after one value a side; after more of them, if it would
    not be sure of single values, or if means and medians disagree.
    """
    base, head = rule.resolved(base), rule.resolved(head)
    if rule.material is None or not (base and head) or min(*base, *head) <= 0:
        return False
    by, floor = fmean(head) / fmean(base), _floor(rule)
    moved = max(by, 1 / by) >= floor
    if min(len(base), len(head)) == 1:
        return moved
    least, most = _typical(base, head)
    return moved != (least >= floor or most <= 1 / floor) or (
        moved and max(by, 1 / by) < rule.sure()
    )
