"""Geometry of the pictures: panels in, positions of lines, bars and words out.

Drawn as inline SVG by ``templates/_charts.html.j2``: text stays text, colours come from the
stylesheet and follow light and dark, and the same numbers give the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import NamedTuple

from observatory.benchmarks.catalogue import BACKENDS
from observatory.dashboard.drawing.panels import ChartLine, Panel
from observatory.text import units

WIDTH, HEIGHT = 380.0, 272.0
LEFT, RIGHT, TOP, GROUND = 46.0, 50.0, 16.0, HEIGHT - 58.0
MOST_LABELS = 20
"""More version labels than these overlap on the axis."""
LABEL_HEIGHT = 13.0
_WIDEST = 1e9
"""Largest to smallest value that is drawn: a time that is a billionth of another is no time."""
DIGIT = 7.5
"""Width of a digit of a label, with its share of air."""


class Tick(NamedTuple):
    """A grid line; without ``text`` a faint one."""

    at: float
    text: str


class Mark(NamedTuple):
    """One measured point, with the ends of its interval."""

    x: float
    y: float
    title: str
    low: float | None = None
    high: float | None = None
    last: bool = False


@dataclass(frozen=True)
class Stroke:
    """One backend's line: pieces between gaps, marks, crosses for crashes, its last value."""

    name: str
    css: str
    shape: str
    paths: tuple[str, ...]
    marks: tuple[Mark, ...]
    crosses: tuple[Mark, ...]
    label: str
    label_y: float


@dataclass(frozen=True)
class Bar:
    """One count: a bar, or a mark on the ground line where it is zero."""

    x: float
    y: float
    width: float
    height: float
    centre: float
    state: str
    label: str
    title: str


@dataclass(frozen=True)
class Drawing:
    """One picture in the coordinates of its view box."""

    slug: str
    title: str
    description: str
    right: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    strokes: tuple[Stroke, ...] = ()
    bars: tuple[Bar, ...] = ()
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    top: float = TOP
    ground: float = GROUND


def shape_of(name: str) -> str:
    """The mark of a backend: a second sign beside its colour."""
    return BACKENDS[name].shape if name in BACKENDS else "circle"


def time_drawings(panels: tuple[Panel, ...]) -> tuple[Drawing | None, ...]:
    """Small multiples on one logarithmic scale, so that heights compare; None draws nothing."""
    values = [
        value
        for panel in panels
        for line in panel.lines
        for point in line.points
        for value in (point.value, point.low, point.high)
        if value is not None and value > 0
    ]
    values = [value for value in values if value >= max(values, default=0.0) / _WIDEST]
    if not values:
        return tuple(None for _ in panels)
    bottom, top = math.log10(min(values)) - 0.16, math.log10(max(values)) + 0.08
    return tuple(None if panel.empty else _time_drawing(panel, bottom, top) for panel in panels)


def _time_drawing(panel: Panel, bottom: float, top: float) -> Drawing:
    def height(value: float) -> float:
        part = max(0.0, (math.log10(value) - bottom) / (top - bottom))
        return round(GROUND - part * (GROUND - TOP), 1)

    xs = _places(len(panel.releases), RIGHT)
    strokes = [_stroke(line, xs, height, panel.unit) for line in panel.lines]
    newest = ", ".join(f"{stroke.name} {stroke.label}" for stroke in strokes if stroke.label)
    return Drawing(
        slug=panel.slug,
        title=panel.table.caption,
        description=f"Logarithmic scale. Newest: {newest or 'not measured'}.",
        right=WIDTH - RIGHT,
        x_ticks=thinned(panel.releases, xs, MOST_LABELS, _shortened),
        y_ticks=tuple(
            Tick(height(value), tick_label(value, panel.unit) if labelled else "")
            for value, labelled in log_ticks(10**bottom, 10**top)
        ),
        strokes=set_apart(strokes),
    )


def _stroke(
    line: ChartLine, xs: list[float], height: Callable[[float], float], unit: str
) -> Stroke:
    ys = [height(p.value) if p.value and p.value > 0 else None for p in line.points]
    paths: list[list[str]] = [[]]
    marks, crosses = [], []
    last = max((place for place, y in enumerate(ys) if y is not None), default=-1)
    for place, (point, x, y) in enumerate(zip(line.points, xs, ys, strict=True)):
        if y is None:
            paths.append([])
            if point.crashed:
                crosses.append(Mark(x, GROUND - 7, point.text))
            continue
        if point.apart:
            paths.append([])
        paths[-1].append(f"{x},{y}")
        has_interval = point.low is not None and point.high is not None and point.low > 0
        low = height(point.low) if has_interval and point.low else None
        high = height(point.high) if has_interval and point.high else None
        marks.append(Mark(x, y, point.text, low, high, place == last))
    value = line.points[-1].value if line.points else None
    final = ys[-1] if ys else None
    return Stroke(
        line.name, line.css, shape_of(line.name),
        tuple(" ".join(piece) for piece in paths if len(piece) > 1),
        tuple(marks), tuple(crosses),
        units.brief(value, unit) if value and final is not None else "",
        final if final is not None else 0.0,
    )  # fmt: skip


def set_apart(strokes: list[Stroke]) -> tuple[Stroke, ...]:
    """Move the last values' labels so that none covers another: down from the topmost."""
    moved: dict[str, float] = {}
    previous = -math.inf
    for stroke in sorted(strokes, key=lambda each: each.label_y):
        if stroke.label:
            previous = max(stroke.label_y, previous + LABEL_HEIGHT)
            moved[stroke.name] = previous
    overhang = max(0.0, max(moved.values(), default=0.0) - GROUND)
    return tuple(
        replace(stroke, label_y=round(moved.get(stroke.name, stroke.label_y) - overhang, 1))
        for stroke in strokes
    )


def count_drawings(panels: tuple[Panel, ...]) -> tuple[Drawing | None, ...]:
    """Bars of exact counts on one linear scale; None draws nothing."""
    most = max(
        (p.value for panel in panels for p in panel.lines[0].points if p.value is not None),
        default=0.0,
    )
    return tuple(None if panel.empty else _count_drawing(panel, most) for panel in panels)


def _count_drawing(panel: Panel, most: float) -> Drawing:
    step = round_step(most / 4) if most > 4 else 1.0
    top = max(step, math.ceil(most / step) * step)
    right = 14.0
    xs = _places(len(panel.releases), right)
    pitch = (WIDTH - right - LEFT) / max(1, len(panel.releases))
    width = round(min(16.0, pitch * 0.62), 1)
    bars = []
    before: float | None = None
    for point, x in zip(panel.lines[0].points, xs, strict=True):
        if point.value is not None:
            tall = 0.0 if not point.value else max(2.0, point.value / top * (GROUND - TOP))
            label = f"{point.value:,.0f}"
            narrow = len(xs) > MOST_LABELS or len(label) * DIGIT > pitch
            crowded = narrow and point.value == before and x != xs[-1]
            bars.append(
                Bar(
                    round(x - width / 2, 1), round(GROUND - tall, 1), width, round(tall, 1), x,
                    "bad" if point.value else "good",
                    "" if crowded else label, point.text,
                )
            )  # fmt: skip
        before = point.value
    newest = panel.lines[0].points[-1].text if panel.lines[0].points else ""
    return Drawing(
        slug=panel.slug, title=panel.table.caption, description=f"Newest: {newest}.",
        right=WIDTH - right, x_ticks=thinned(panel.releases, xs, MOST_LABELS, _shortened),
        y_ticks=tuple(
            Tick(round(GROUND - step * k / top * (GROUND - TOP), 1), f"{step * k:,.0f}")
            for k in range(round(top / step) + 1)
        ),
        bars=tuple(bars),
    )  # fmt: skip


def _places(count: int, right: float) -> list[float]:
    """Evenly spaced positions, half a step of air on both sides."""
    pitch = (WIDTH - right - LEFT) / max(1, count)
    return [round(LEFT + pitch * (place + 0.5), 1) for place in range(count)]


def thinned(
    labels: Sequence[str], xs: Sequence[float], most: int, shorten: Callable[[str], str]
) -> tuple[Tick, ...]:
    """Every label, or every k-th if there are more than ``most``, counted back from the newest."""
    every = math.ceil(len(labels) / most) or 1
    ticks = zip(xs, map(shorten, labels), strict=True)
    return tuple(starmap(Tick, list(ticks)[(len(labels) - 1) % every :: every]))


def _shortened(label: str) -> str:
    return label if len(label) <= 9 else f"{label[:8]}…"


def log_ticks(low: float, high: float) -> list[tuple[float, bool]]:
    """Grid lines at 1, 2 and 5 of each decade; labelled at all of them only if few."""
    ticks = [
        (round(lead * 10.0**power, 12), lead == 1)
        for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for lead in (1, 2, 5)
        if low <= lead * 10.0**power <= high
    ]
    decades = sum(labelled for _, labelled in ticks)
    return [(value, labelled or decades < 2) for value, labelled in ticks]


def tick_label(value: float, unit: str) -> str:
    """A round number, without the digits that a measured one would carry."""
    of_counts = (("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))
    for name, scale in (("s", 1.0), ("ms", 1e-3)) if unit == "seconds" else of_counts:
        if value >= scale:
            return f"{value / scale:g} {name}".rstrip()
    return f"{value / 1e-6:g} µs" if unit == "seconds" else f"{value:g}"


def round_step(rough: float) -> float:
    """The smallest step of 1, 2 or 5 times a power of ten that is not below ``rough``."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(lead * power for lead in (1, 2, 5, 10) if lead * power >= rough)
