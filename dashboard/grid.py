"""The data of the grid of all series: its filters, groups, orders and sparklines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from observatory.analyze.history.segments import SegmentedSeries
from observatory.dashboard.drawing.series import SPARK_HEIGHT, Spark, spark
from observatory.dashboard.pages.newest_value import newest_change
from observatory.dashboard.site_input import SiteInput
from observatory.text.plain import clean, shorten

PER_FILE = 1000
"""Sparklines in one data file."""
_HEIGHTS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LETTERS = np.frombuffer(_HEIGHTS.encode(), "S1")


def grid_files(observed: SiteInput) -> Iterator[tuple[str, object]]:
    """Names and contents of data files; columns and sparklines are in the order of the series."""
    tracks = observed.tracks
    changes = [newest_change(observed, track) for track in tracks]
    yield "grid", {
        "per": PER_FILE, "group": [_group(track) for track in tracks],
        "backend": [clean(track.series.place.backend) for track in tracks],
        "state": [one.state for one in changes],
        "words": [shorten(one.words, 60) for one in changes],
        "noise": [None if track.noise is None else round(track.noise, 4) for track in tracks],
        **_newest_steps(observed),
    }  # fmt: skip
    for first in range(0, len(tracks), PER_FILE):
        shown = tracks[first : first + PER_FILE]
        yield f"sparks-{first // PER_FILE}", [_coded(spark(track)) for track in shown]


def _group(track: SegmentedSeries) -> str:
    """The model of a cell of ours, or the module of another project's benchmark."""
    place = track.series.place
    return clean(place.model or place.scenario.partition("(")[0].partition(".")[0])


def _newest_steps(observed: SiteInput) -> dict[str, list[Any]]:
    """By series the date of its newest step, its relative size, and how the level changed."""
    when: list[str] = []
    impact: list[float] = []
    for track in observed.tracks:
        if len(track.bounds) < 3:
            when.append("")
            impact.append(0.0)
            continue
        before, after = sorted(abs(level) for level in track.levels[-2:])
        when.append(f"{track.series.subject(track.bounds[-2]).date:%Y-%m-%d}")
        impact.append(round(min(after / before, 1e6) - 1, 4) if before else 1e6)
    return {"when": when, "impact": impact}


def _coded(drawn: Spark | None) -> str:
    """The sparkline, a letter for each height from the top; empty for a single value."""
    if drawn is None:
        return ""
    heights = np.array(drawn.path.replace(" ", ",").split(",")[1::2], np.float64)
    top = len(_HEIGHTS) - 1
    places = np.clip(np.rint(heights / SPARK_HEIGHT * top), 0, top).astype(np.intp)
    return _LETTERS[places].tobytes().decode()
