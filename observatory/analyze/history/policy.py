"""Which changes for the worse are alerts, and which a list of small changes holds. Pure.

An alert asks a person to act, so that there must be few. The impact of a change is its size times
its certainty, times the square root of the number of its series: series that move together share
most of their noise, so that a hundred of them are not a hundred times as good a reason. Changes
of less impact than MINIMUM are *small changes*: the weekly digest and the pages list them.

Nothing else keeps a change from being an alert, unless it was over before anybody was told. Counts
that say something is wrong (wrong results, misses, crashes) always alert.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from observatory.analyze.history.segments import STILL
from observatory.analyze.statements import Occurrence
from observatory.store.records.alerts import Reason, SeriesChange

MINIMUM = {"near_exact": math.log(1.005), "noisy": 0.03}
"""The least impact of an alert, by the kind of its series. Of times and memory a sure +3 % in one
series, so that +5 % is told unless its interval is wide; +2 % needs three. Of work, which hardly
varies: +0.5 % in one series."""


@dataclass(frozen=True)
class Assessed:
    """The impact of a change, and why it is not an alert; ``reason`` is None if it is one."""

    impact: float
    reason: Reason | None


def assess(one: Occurrence, *, told: bool, first: bool) -> Assessed:
    """Whether a change for the worse is an alert.

    ``told``: whether it is one already; then it stays one while STILL of MINIMUM is left.
    ``first``: whether nobody looked before, so that what is over could not have been told.
    """
    if not one.change.series or any(series.kind == "exact" for series in one.change.series):
        return Assessed(math.inf, None)
    impacts = {
        kind: impact(series for series in one.change.series if series.kind == kind)
        for kind in MINIMUM
    }
    # Work and times may be in one change. Each of them is enough, and neither hides the other.
    kind = max(MINIMUM, key=lambda kind: impacts[kind] / MINIMUM[kind])
    if impacts[kind] < MINIMUM[kind] * (STILL if told else 1.0):
        return Assessed(impacts[kind], "small")
    if one.recovered is not None and not told and not first:
        return Assessed(impacts[kind], "went back")
    return Assessed(impacts[kind], None)


def impact(series: Iterable[SeriesChange]) -> float:
    """The impact of changes: size times certainty times the root of the number of the series.

    It is 0.095 for +10 % in one series with a narrow interval, 0 without series.
    """
    return math.sqrt(sum(_sure(one) ** 2 for one in series))


def _sure(one: SeriesChange) -> float:
    """The size that is certain: of an interval the end that is nearer to no change."""
    if one.low is not None and one.high is not None and one.low > 0 and one.modes is None:
        return max(0.0, math.log(one.low if one.worse else 1 / one.high))
    low, high = sorted((one.before, one.after))
    return math.log(high / low) if low > 0 else 1.0
