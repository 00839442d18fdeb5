"""The size of a step or a drift in words.

Numbers are observed, or called estimates. A ratio that contradicts its medians is never shown.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from observatory.analyze.history.steps import Step
from observatory.store.records.alerts import Modes, SeriesChange, described_by_ratio
from observatory.text import units

_RUNS = {"seconds": "slow runs", "bytes": "large values"}

LevelChange: TypeAlias = Step | SeriesChange
"""A change between two levels of a noisy series."""


def levels(one: SeriesChange) -> str:
    """Its values before and after; the one value where nothing was measured before."""
    if one.last_good is None:
        return units.human(one.after, one.unit)
    return units.change(one.before, one.after, one.unit)


def medians(one: LevelChange) -> float | None:
    """The ratio of the medians, after to before; None where it does not describe the change."""
    if one.modes is not None or min(one.before, one.after) <= 0:
        return None
    found = one.after / one.before
    return found if (found > 1) == one.worse and math.isfinite(found) else None


def brief(one: LevelChange, unit: str) -> str:
    """The direction and relative change: "slower: +30 %", "slower: two modes"."""
    word = units.direction(unit, one.worse)
    if one.modes is not None:
        return f"{word}: two modes"
    ratio = medians(one)
    return word if ratio is None else f"{word}: {units.signed(ratio)}"


def details(one: LevelChange, unit: str) -> str:
    """The numbers: "371 → 482 ms; 95 % interval +26 to +34 %", or the two modes."""
    if one.modes is not None:
        return _modes(one.modes, unit)
    levels = units.change(one.before, one.after, unit)
    ratio = medians(one)
    if ratio is None and min(one.before, one.after) > 0:
        lower = "higher" if one.worse else "lower"
        return f"in most pairs of values the later one is {lower}; the medians: {levels}"
    if ratio is None or one.low is None or one.high is None:
        return levels
    return levels + interval(one.low, one.high, ratio)


def interval(low: float, high: float, ratio: float) -> str:
    """The interval of a ratio; empty where it leaves the direction or the size open."""
    if low <= 1 <= high or not described_by_ratio(ratio, low, high):
        return ""
    return f"; 95 % interval {units.span(low, high)}"


def drifting(one: LevelChange, ratio: float, unit: str) -> tuple[str, str]:
    """The relative change of a drift, and its interval and medians.

    ``ratio``, last to first, is an estimate without the steps. The medians of the first and last
    values are left out if noise reverses their order.
    """
    sure = "" if one.low is None or one.high is None else interval(one.low, one.high, ratio)
    seen = ""
    if (one.after > one.before) == (ratio > 1):
        levels = units.change(one.before, one.after, unit)
        seen = f"medians of the first and last values: {levels}"
    numbers = "; ".join(part for part in (sure.removeprefix("; "), seen) if part)
    return f"about {units.signed(ratio)}", numbers


def _modes(modes: Modes, unit: str) -> str:
    if modes.moved is not None:
        lower = units.change(modes.lower, modes.moved[0], unit)
        upper = units.change(modes.upper, modes.moved[1], unit)
        return f"two modes, {lower} and {upper}"
    centres = units.pair(modes.lower, modes.upper, unit, " and ")
    moved = "rose" if modes.after > modes.before else "fell"
    shares = f"from {100 * modes.before:.0f} to {100 * modes.after:.0f} %"
    runs = _RUNS.get(unit, "high values")
    return f"two modes, {centres}; the share of {runs} {moved} {shares}"
