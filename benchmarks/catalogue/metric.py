"""The record of a metric, and the families of scenarios that several metrics have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .scenarios import SCENARIOS, WARM_SCENARIOS
from .words import Kind, Measure

Where = Literal["nowhere", "warm", "everywhere"]
"""In which scenarios something holds: `warm` means WARM_SCENARIOS."""
EVERYWHERE = (
    "build", "variants", "siblings", "upgrade", "sampling", "path", "census", "topics", "pairs",
    "key_making", "freezing", "growth", "call",
)  # fmt: skip
BUILDS = ("build", "variants")
GROWS = (*BUILDS, "growth")
COMPILES = ("build", "variants", "siblings", "upgrade", "path", "census", "topics")
APART = ("path", "census", "topics", "pairs", "key_making", "freezing", "growth")


@dataclass(frozen=True)
class Metric:
    """One metric."""

    name: str
    unit: str
    kind: Kind
    measure: Measure
    """The pass that gives it."""
    meaning: str
    families: tuple[str, ...]
    """The families of scenarios in which it makes sense. A value that a subject cannot give is
    recorded as absent, with a reason."""
    launches: tuple[str, ...] = ()
    """The start methods under which it makes sense; empty: all."""
    alerting: Where = "nowhere"
    """Exact metrics: where a worsening is an alarm and not a description of the workload."""
    zero: Where = "nowhere"
    """Where 0 is the only good value."""
    noun: str = ""
    """What its values are called in a row of the census, beside other counts of one graph."""
    every_pass: bool = False
    """Whether every pass gives it, and the worst of them is recorded."""
    even_if_same: str = ""
    """What both sides have, as a text begins that says so of an equal value above 0."""
    wrong_values: bool = False
    """Whether it counts values that are wrong: HEAD must not be merged where it rises."""
    judged: bool = False
    """Noisy metrics: whether a test judges it; parts of another metric are only evidence."""
    once: bool = False
    """Whether it is the same in every cell, and therefore judged once per model."""
    material: float | None = None
    """The relative change from which it is worse or better. Near-exact metrics; None: it is not
    judged. Exact metrics that are counted graph by graph, each for itself; None: any change is."""
    resolution: float = 0.0
    """Near-exact metrics: smaller values count as this one, because nothing finer is measured."""
    all_of: int = 1
    """Near-exact metrics: where it is more than one, chance adds to many values at a time, as a
    busy disk does. Then each of at least so many values of one side must be beyond all of the
    other, and the lowest stands for several."""
    of_filled: bool = False
    """Whether only builds from a filled cache have it."""
    derived: bool = False
    """Whether the tool derives it from the builds of a sample, which does not give it."""
    by_size: bool = False
    """Whether the page of growth shows its curve over the sizes of a family."""
    spread: float = 0.01
    """Near-exact metrics: the relative change between two processes of one subject that one pair in
    a hundred exceeds, on a machine without calibration."""
    steady: float | None = None
    """The same of counts that leave out lookups and allocations; None: ``spread``."""
    told_by_numba: bool = False
    """Whether some versions of numba do not tell it."""
    sourced: bool = False
    """Whether samples say what counted it. Values of two sources are never compared."""
    of_cpu: bool = False
    """Whether it depends on the CPU that machine code is made for, not only on versions."""
    shown: bool = False
    """Whether the matrix, the summary and the glossary of the pages show it."""
    section: str = ""
    """The section of a comment for its changes; empty: "Other measurements"."""
    phrase: str = ""
    """A claim with room for its direction: "compiling is {}" and "slower"."""
    rose: tuple[str, str] | None = None
    """A claim about a count that rose by 1, and by several."""
    fell: tuple[str, str] | None = None
    """The same of one that fell."""
    trend: tuple[str, str] | None = None
    """The names of a worsening and of an improvement in a history."""
    advice: str = ""
    """What to do about a change that no cause explains, in sentences."""

    @property
    def least_ratio(self) -> float:
        """Near-exact metrics that can be worse: from which ratio of two single values they are."""
        return (1 + (self.material or 0.0)) * (1 + self.spread)

    @property
    def noise_is_learned(self) -> bool:
        """Whether a calibration says what chance does to it, and that decides.

        What seldom happens to a value, such as a disk that is busy, no calibration may have seen.
        """
        return self.judged or (self.material is not None and self.all_of == 1)

    def same(self, one: float, other: float) -> bool:
        """Whether two values of two subjects are equal, as far as chance lets one tell."""
        if self.kind == "exact":
            return one == other or max(one, other) <= min(one, other) * (1 + (self.material or 0))
        one, other = max(one, self.resolution), max(other, self.resolution)
        if self.all_of > 1:
            return max(one, other) < self.least_ratio * min(one, other)
        return abs(one - other) <= (self.material or self.spread) * max(one, other)

    def value_of(self, samples: Sequence[float]) -> float:
        """The value that stands for some samples, of which there is at least one.

        Noisy: the median. Near-exact: the median, as a value that was observed (the larger of two
        in the middle), or the lowest. Exact: the worst, since one sample that differs is a finding.
        """
        # Not at the top: it imports `decimal`, and a measured process that has done so executes
        # 0.25 % fewer instructions in a build with C_VM.
        from statistics import median, median_high

        if self.kind == "exact":
            return max(samples)
        if self.all_of > 1:
            return min(samples)
        return median(samples) if self.kind == "noisy" else median_high(samples)

    def alerts_in(self, scenario: str) -> bool:
        """Whether a worsening in this scenario is an alarm.

        Misses in a cold or variants build change with every rewrite and only describe the
        workload. A miss in a cache that was filled for the same function is an alarm.
        """
        return _holds(self.alerting, scenario)

    def zero_in(self, scenario: str) -> bool:
        """Whether 0 is the only good value in this scenario.

        Of many Ops there are always some that a cache cannot store: to lose one is worse.
        """
        known = SCENARIOS.get(scenario)
        counted = self.zero == "everywhere" or known is None or not known.apart
        return counted and _holds(self.zero, scenario)


def _holds(where: Where, scenario: str) -> bool:
    return where == "everywhere" or (where == "warm" and scenario in WARM_SCENARIOS)
