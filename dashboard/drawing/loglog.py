"""A picture with two logarithmic scales: what a metric is at each size, a line for each subject."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from observatory.analyze.growth.curve import Point
from observatory.dashboard.drawing.geometry import (
    GROUND,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Drawing,
    Mark,
    Stroke,
    Tick,
    log_ticks,
    set_apart,
    tick_label,
)
from observatory.text import units

_SHAPES = ("circle", "square", "diamond")


class SizeLine(NamedTuple):
    """One subject's line."""

    name: str
    css: str
    points: Sequence[Point]


def drawing(slug: str, title: str, unit: str, lines: Sequence[SizeLine]) -> Drawing | None:
    """The picture of some lines, the steeper the higher their power; None without a point."""
    points = [point for line in lines for point in line.points]
    if not points:
        return None
    sizes, values = [p.size for p in points], [p.value for p in points]
    x_low, x_high = math.log10(min(sizes)) - 0.05, math.log10(max(sizes)) + 0.05
    low, high = math.log10(min(values)) - 0.1, math.log10(max(values)) + 0.1
    right = WIDTH - RIGHT

    def across(size: float) -> float:
        return round(LEFT + (math.log10(size) - x_low) / (x_high - x_low) * (right - LEFT), 1)

    def height(value: float) -> float:
        return round(GROUND - (math.log10(value) - low) / (high - low) * (GROUND - TOP), 1)

    strokes = [
        Stroke(
            line.name, line.css, _SHAPES[number % len(_SHAPES)],
            (" ".join(f"{across(p.size)},{height(p.value)}" for p in line.points),),
            tuple(
                Mark(across(p.size), height(p.value),
                     f"{line.name}, {units.count(p.size)}: {units.human(p.value, unit)}")
                for p in line.points
            ),
            (), line.name, height(line.points[-1].value),
        )
        for number, line in enumerate(lines)
        if line.points
    ]  # fmt: skip
    newest = lines[-1].points[-1] if lines[-1].points else points[-1]
    return Drawing(
        slug=slug,
        title=title,
        description=f"Both scales are logarithmic. At {units.count(newest.size)}: "
        f"{units.human(newest.value, unit)}.",
        right=right,
        x_ticks=tuple(Tick(across(size), units.count(size)) for size in sorted(set(sizes))),
        y_ticks=tuple(
            Tick(height(value), tick_label(value, unit) if labelled else "")
            for value, labelled in log_ticks(10**low, 10**high)
        ),
        strokes=set_apart(strokes),
    )
