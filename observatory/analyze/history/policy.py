"""Which changes for the worse are alerts, and which a list of smaller changes holds. Pure.

An alert asks a person to act, so that there must be few. The impact of a change is its size times
its certainty, times the square root of the number of its series: series that move together share
most of their noise, so that a hundred of them are not a hundred times as good a reason. Changes
of less impact than MINIMUM are *smaller changes*: the weekly digest and the pages list them.

Counts that say something is wrong (wrong results, misses, crashes) always alert.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from observatory.analyze.history.segments import STILL
from observatory.analyze.statements import Occurrence
from observatory.store.records.alerts import Reason, SeriesChange

MINIMUM = {"near_exact": 0.005, "noisy": 0.07}
"""The least impact of an alert, by the kind of its series. Of times: +10 % in one series is enough
unless its interval is wide; +5 % needs two to four. Of work, which hardly varies: 0.5 % in one."""
MACHINE_SHARE = 0.6
MACHINE_FEWEST = 20
"""A change of so large a share of the series of a machine, and at least so many, is probably the
machine's or a dependency's."""
LATE = 30
"""A step that is found only so many subjects after it began is too weak, or a by-product of later
values. It is not news, and alerts only where no earlier alerts are known."""


@dataclass(frozen=True)
class Assessed:
    """The impact of a change, and why it is not an alert; ``reason`` is None if it is one."""

    impact: float
    reason: Reason | None


def impact(one: Occurrence) -> float:
    """The impact of a change: size times certainty times the root of the number of its series.

    It is 0.095 for +10 % in one series with a narrow interval. Infinite for exact counts.
    """
    if any(series.kind == "exact" for series in one.change.series) or not one.change.series:
        return math.inf
    sizes = sorted((_sure(series) for series in one.change.series), reverse=True)
    return math.sqrt(sum(size * size for size in sizes))


def _sure(one: SeriesChange) -> float:
    """The size that is certain: of an interval the end that is nearer to no change."""
    if one.low is not None and one.high is not None and one.low > 0 and one.modes is None:
        nearer = one.low if one.worse else 1 / one.high
        return max(0.0, math.log(nearer))
    low, high = sorted((one.before, one.after))
    return math.log(high / low) if low > 0 else 1.0


@dataclass(frozen=True)
class Circumstances:
    """What the policy must know besides a change.

    ``judged``: the number of judged noisy series by machine and environment. ``age``: how many
    subjects are newer than its first one. ``told``: whether it is an alert already.
    """

    judged: Mapping[tuple[str, str], int]
    age: int
    told: bool
    first_run: bool


def assess(one: Occurrence, known: Circumstances) -> Assessed:
    """Whether a change is an alert; one that is already stays it while half is left."""
    found = impact(one)
    if math.isinf(found):
        return Assessed(found, None)
    kind = "noisy" if any(s.kind == "noisy" for s in one.change.series) else "near_exact"
    least = MINIMUM[kind] * (STILL if known.told else 1.0)
    if found < least:
        return Assessed(found, "small")
    if kind == "noisy" and not known.told:
        if _of_the_machine(one, known.judged):
            return Assessed(found, "machine")
        if known.age > LATE and not known.first_run:
            return Assessed(found, "found late")
        if one.recovered is not None:
            return Assessed(found, "went back")
    return Assessed(found, None)


def _of_the_machine(one: Occurrence, judged: Mapping[tuple[str, str], int]) -> bool:
    places = {(series.machine, series.env_name) for series in one.change.series}
    there = sum(judged.get(place, 0) for place in places)
    moved = len(one.change.series)
    return moved >= MACHINE_FEWEST and moved >= MACHINE_SHARE * there
