"""Sparklines: a series as one small path, drawn by ``templates/_spark.html.j2``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from observatory.analyze.history.segments import SegmentedSeries

WIDTH, HEIGHT = 84.0, 22.0
_MOST = 60
_AIR = 3.0


@dataclass(frozen=True)
class Spark:
    """A path, the last point, and where levels change, in the coordinates of the view box."""

    path: str
    x: float
    y: float
    steps: tuple[float, ...]
    width: float = WIDTH
    height: float = HEIGHT


def spark(track: SegmentedSeries) -> Spark | None:
    """The sparkline of a series; None of a single value. Many are drawn by their means."""
    values = track.series.values
    if len(values) < 2:
        return None
    bounds = np.unique(np.linspace(0, len(values), min(len(values), _MOST) + 1).astype(int))
    shown = np.add.reduceat(values, bounds[:-1]) / np.diff(bounds)
    shown[-1] = values[-1]
    xs = np.linspace(_AIR, WIDTH - _AIR, len(shown))
    ys = _heights(shown)
    points = " ".join(f"{x:.4g},{y:.3g}" for x, y in zip(xs, ys, strict=True))
    places = np.searchsorted(bounds, track.bounds[1:-1], side="right") - 1
    between = [(xs[max(place - 1, 0)] + xs[place]) / 2 for place in places]
    return Spark(
        points, round(float(xs[-1]), 1), round(float(ys[-1]), 1),
        tuple(dict.fromkeys(round(float(x), 1) for x in between)),
    )  # fmt: skip


def _heights(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """From the bottom to the top of the picture; a logarithm where the largest is many times."""
    low, high = float(values.min()), float(values.max())
    if low > 0 and high > 4 * low:
        values, low, high = np.log(values), float(np.log(low)), float(np.log(high))
    # Noise of a per cent or two must not look like a mountain.
    span = max(high - low, 0.1 * abs(high)) or 1.0
    middle = (high + low) / 2
    part = (values - middle) / span + 0.5
    return HEIGHT - _AIR - part * (HEIGHT - 2 * _AIR)
