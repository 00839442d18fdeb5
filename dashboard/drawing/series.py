"""A series as a small path, and as a still picture with its table: what an alert is based on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from markupsafe import Markup, escape

from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import Series
from observatory.dashboard.colours import colour_of
from observatory.dashboard.drawing.geometry import Mark, Tick, round_step, thinned
from observatory.dashboard.drawing.panels import Table
from observatory.dashboard.site_input import SiteInput
from observatory.store.records.alerts import At, SeriesChange
from observatory.text import units
from observatory.text.plain import shorten

WIDTH, HEIGHT = 620.0, 210.0
LEFT, RIGHT, TOP, BOTTOM = 66.0, 14.0, 12.0, 56.0
MOST_VALUES = 120
FEWEST_BESIDE = 24
"""Values before a change, at least: a change that is new has few after it."""
_MOST_STEPS, _FEWEST_BEFORE = 5, 5
"""The heights of a change that its picture spans at most, and how many values are before it."""
SPARK_WIDTH, SPARK_HEIGHT = 84.0, 22.0
_SPARK_VALUES = 60
_MOST_DRAWN = 1e300
"""Where larger values are drawn: sums and differences of what is drawn are finite."""
_AIR = 3.0
_ROWS = 60
_LABELS = 16
_LABEL = 10
_TICKS = 4


@dataclass(frozen=True)
class Picture:
    """A chart in the coordinates of its view box, with its table."""

    id: str
    css: str
    title: str
    description: str
    points: tuple[Mark, ...]
    path: str
    levels: tuple[tuple[float, float, float], ...]
    """From x to x at y."""
    bad: tuple[float, float] | None
    """From x to x: from the first bad subject to the one that resolved it."""
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    table: Table
    marks: Markup
    """A circle for each point, with its title: they are most of what an alert's page has."""
    count: int
    """The number of all values, shown or not."""
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    ground: float = HEIGHT - BOTTOM


def picture(
    observed: SiteInput, number: int, change: SeriesChange | None = None, over: At | None = None
) -> Picture:
    """Draw MOST_VALUES values at most: as many before ``change`` as after it, else the newest."""
    track, id_ = observed.tracks[number], observed.ids[number]
    series = track.series
    n = len(series.values)
    first, last = _window(series, change)
    shown = range(first, last)
    values = series.values[first:last]
    intervals = [observed.interval(series, index) for index in shown]
    ends = [end for _, low, high in intervals for end in (low, high) if end is not None]
    scale = _Scale.of([*values.tolist(), *ends])
    positions = series.at[first:last].astype(float)
    xs = _places(positions, int(positions[-1] - positions[0]) + 1)
    unit = series.place.unit
    labels = [shorten(series.subject(index).label, 24) for index in shown]
    points = tuple(
        Mark(
            x, scale.y(value), f"{label}: {units.human(value, unit)}",
            None if low is None else scale.y(low), None if high is None else scale.y(high),
        )
        for x, value, label, (_, low, high)
        in zip(xs, values.tolist(), labels, intervals, strict=True)
    )  # fmt: skip
    commits = [series.subject(index).commit for index in shown]
    name = f"{series.benchmark} {series.place.metric}"
    return Picture(
        id=id_, css=f"b-{colour_of(track, id_)}", title=shorten(name, 160),
        description=f"{len(values)} values, newest {units.human(float(values[-1]), unit)}",
        points=points, path=" ".join(f"{p.x},{p.y}" for p in points),
        levels=tuple(_levels(track, shown, xs, scale))
        if track.judgement in ("judged", "exact") and track.drift is None else (),
        bad=_bad(xs, commits, change, over),
        x_ticks=thinned(labels, xs, _LABELS, lambda label: shorten(label, _LABEL)),
        y_ticks=scale.ticks(unit),
        table=_table(name, observed, number, shown), marks=_marks(points), count=n,
    )  # fmt: skip


def _marks(points: Sequence[Mark]) -> Markup:
    each = (
        f'<circle cx="{p.x}" cy="{p.y}" r="3"><title>{escape(p.title)}</title></circle>'
        for p in points
    )
    return Markup("".join(each))  # noqa: S704 every text in it is escaped


@dataclass(frozen=True)
class _Scale:
    """From values to heights; logarithmic where the largest is many times the smallest."""

    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, values: Sequence[float]) -> _Scale:
        low, high = _within(min(values)), _within(max(values))
        log = low > 0 and high > 5 * low
        if log:
            return cls(math.log10(low) - 0.08, math.log10(high) + 0.08, True)
        air = 0.12 * (high - low) or 0.1 * abs(high) or 1.0
        return cls(min(0.0, low) if low >= 0 and low < 2 * air else low - air, high + air, False)

    def y(self, value: float) -> float:
        number = math.log10(value) if self.log else _within(value)
        part = (number - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP), 1)

    def ticks(self, unit: str) -> tuple[Tick, ...]:
        if self.log:
            powers = range(math.floor(self.low), math.ceil(self.high) + 1)
            found = [lead * 10.0**power for power in powers for lead in (1, 2, 5)]
            found = [v for v in found if self.low <= math.log10(v) <= self.high]
            found = found[:: max(1, len(found) // _TICKS)]
        else:
            step = round_step((self.high - self.low) / _TICKS)
            start = math.ceil(self.low / step)
            found = [k * step for k in range(start, math.floor(self.high / step) + 1)]
        # A unit that is not scaled stands in the title: there is no room for it here.
        scaled = unit if unit in ("seconds", "bytes") else ""
        return tuple(
            Tick(self.y(value), units.brief(float(f"{value:.6g}"), scaled)) for value in found
        )


def _within(value: float) -> float:
    return max(-_MOST_DRAWN, min(value, _MOST_DRAWN))


def _places(positions: npt.NDArray[np.float64], count: int) -> list[float]:
    pitch = (WIDTH - LEFT - RIGHT) / max(1, count)
    return [round(LEFT + pitch * (p - positions[0] + 0.5), 1) for p in positions.tolist()]


def _before(xs: Sequence[float], place: int) -> float:
    return round((xs[place - 1] + xs[place]) / 2, 1) if place else xs[0]


def _window(series: Series, change: SeriesChange | None) -> tuple[int, int]:
    """The shown values: the index of the first, and the one after the last."""
    n = len(series.values)
    commit = None if change is None else change.first_bad.commit
    at = next((i for i in range(n) if series.subject(i).commit == commit), None)
    if at is None:
        return max(0, n - MOST_VALUES), n
    beside = min(MOST_VALUES // 2, max(n - at, FEWEST_BESIDE))
    first = max(0, at - beside)
    last = min(n, first + 2 * beside)
    return _where_it_shows(series.values[first:last], at - first, change) + first, last


def _where_it_shows(values: npt.NDArray[np.float64], at: int, change: SeriesChange | None) -> int:
    """The first value to show: without far older ones beside which the change would be flat."""
    step = 0.0 if change is None else abs(change.after - change.before)
    if not step:
        return 0
    backwards = values[::-1]
    span = np.maximum.accumulate(backwards) - np.minimum.accumulate(backwards)
    fitting = int(np.count_nonzero(span <= _MOST_STEPS * step))
    return max(0, min(len(values) - fitting, at - _FEWEST_BEFORE))


def _bad(
    xs: Sequence[float], commits: Sequence[str], change: SeriesChange | None, over: At | None
) -> tuple[float, float] | None:
    if change is None or change.first_bad.commit not in commits:
        return None
    begin = _before(xs, commits.index(change.first_bad.commit))
    if over is None or over.commit not in commits:
        return begin, WIDTH - RIGHT
    return begin, _before(xs, commits.index(over.commit))


def _levels(
    track: SegmentedSeries, shown: range, xs: Sequence[float], scale: _Scale
) -> Iterator[tuple[float, float, float]]:
    for (start, stop), level in zip(pairwise(track.bounds), track.levels, strict=True):
        begin, end = max(start, shown.start), min(stop, shown.stop)
        if begin < end and (not scale.log or level > 0):
            yield xs[begin - shown.start], xs[end - 1 - shown.start], scale.y(level)


def _table(name: str, observed: SiteInput, number: int, shown: range) -> Table:
    series = observed.tracks[number].series
    unit = series.place.unit
    rows = []
    for index in reversed(shown[-_ROWS:]):
        subject = series.subject(index)
        n, low, high = observed.interval(series, index)
        between = "" if low is None else units.pair(low, high, unit, " to ")
        rows.append((
            shorten(subject.label, 40), f"{subject.date:%Y-%m-%d}",
            units.human(float(series.values[index]), unit), between, str(n) if n else "",
        ))  # fmt: skip
    header = ("subject", "date", "value", "interval of the median", "samples")
    return Table(shorten(f"{name}, newest first", 200), header, tuple(rows))


@dataclass(frozen=True)
class Spark:
    """A path, the last point, and where levels change, in the coordinates of the view box."""

    path: str
    x: float
    y: float
    steps: tuple[float, ...]
    width: float = SPARK_WIDTH
    height: float = SPARK_HEIGHT


def spark(track: SegmentedSeries) -> Spark | None:
    """The sparkline of a series; None for a single value. Long series are drawn as means."""
    values = np.clip(track.series.values, -_MOST_DRAWN, _MOST_DRAWN)
    if len(values) < 2:
        return None
    bounds, sizes = _bounds(len(values))
    shown = np.add.reduceat(values, bounds[:-1]) / sizes
    shown[-1] = values[-1]
    xs, form = _form(len(shown))
    ys = _heights(shown)
    points = form % tuple(ys.tolist())
    steps = track.bounds[1:-1]
    places = np.searchsorted(bounds, steps, side="right") - 1 if steps else ()
    between = [(xs[max(place - 1, 0)] + xs[place]) / 2 for place in places]
    return Spark(
        points, round(float(xs[-1]), 1), round(float(ys[-1]), 1),
        tuple(dict.fromkeys(round(float(x), 1) for x in between)),
    )  # fmt: skip


@lru_cache(maxsize=_SPARK_VALUES)
def _form(number: int) -> tuple[npt.NDArray[np.float64], str]:
    """Where so many points are from left to right, and the path with room for their heights."""
    xs = np.linspace(_AIR, SPARK_WIDTH - _AIR, number)
    return xs, " ".join(f"{x:.4g},%.3g" for x in xs.tolist())


@lru_cache(maxsize=1024)
def _bounds(number: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The parts of so many values that are drawn as their means: bounds and sizes."""
    shown = min(number, _SPARK_VALUES)
    bounds = np.unique(np.linspace(0, number, shown + 1).astype(np.int64))
    return bounds, np.diff(bounds)


def _heights(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Heights of the values; the scale is logarithmic if they differ by a factor of 4."""
    low, high = float(values.min()), float(values.max())
    if low > 0 and high > 4 * low:
        values, low, high = np.log(values), float(np.log(low)), float(np.log(high))
    # Noise of a per cent or two must not look like a mountain.
    span = max(high - low, 0.1 * abs(high)) or 1.0
    middle = (high + low) / 2
    part = (values - middle) / span + 0.5
    return SPARK_HEIGHT - _AIR - part * (SPARK_HEIGHT - 2 * _AIR)
