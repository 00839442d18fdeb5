"""The data of the grid of all series: its filters, groups, orders and sparklines."""

from __future__ import annotations

from collections.abc import Iterator

from observatory.analyze.history.segments import SegmentedSeries
from observatory.dashboard.site_input import SiteInput
from observatory.dashboard.views import Views
from observatory.text.plain import clean, shorten

PER_FILE = 1000
"""Sparklines in one data file."""

_LONGEST = 60


def grid_files(observed: SiteInput, views: Views) -> Iterator[tuple[str, object]]:
    """Names and contents of data files; columns and sparklines are in the order of the series."""
    tracks, shown = observed.tracks, views.all
    yield "grid", {
        "per": PER_FILE, "group": [_group(track) for track in tracks],
        "backend": [clean(track.series.place.backend) for track in tracks],
        "state": [one.state for one in shown],
        "words": [shorten(one.words, _LONGEST) for one in shown],
        "noise": [None if one.noise is None else round(one.noise, 4) for one in shown],
        "when": [one.when for one in shown],
        "impact": [one.impact for one in shown],
    }  # fmt: skip
    for first in range(0, len(tracks), PER_FILE):
        yield f"sparks-{first // PER_FILE}", [o.spark for o in shown[first : first + PER_FILE]]


def _group(track: SegmentedSeries) -> str:
    """The model of a cell of ours, or the module of another project's benchmark."""
    place = track.series.place
    return clean(place.model or place.scenario.partition("(")[0].partition(".")[0])
