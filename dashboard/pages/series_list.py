"""Every series in pages of a few dozen: the whole collection without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from observatory.dashboard.colours import colour_of
from observatory.dashboard.drawing.series import spark
from observatory.dashboard.pages.newest_value import newest_change
from observatory.dashboard.site_input import SiteInput
from observatory.text import units
from observatory.text.plain import shorten

PER_PAGE = 60
_LONGEST = 140


def path_of(number: int) -> str:
    """Where the list of that number is; the first is 1."""
    return f"list/{number:03d}.html"


def list_pages(observed: SiteInput) -> Iterator[dict[str, Any]]:
    """All series in their order, PER_PAGE at a time: the values of `list.html.j2`.

    ``groups`` are the names of lines with the entries of their series.
    """
    count = len(observed.tracks)
    pages = max(1, -(-count // PER_PAGE))
    for number in range(1, pages + 1):
        groups: dict[str, list[dict[str, Any]]] = {}
        for index in range((number - 1) * PER_PAGE, min(number * PER_PAGE, count)):
            line = observed.tracks[index].series.line
            name = shorten(f"{line.name}: {line.era}", 200)
            groups.setdefault(name, []).append(_entry(observed, index))
        yield {"number": number, "of": pages, "groups": list(groups.items()), "path_of": path_of}


def _entry(observed: SiteInput, index: int) -> dict[str, Any]:
    track, id_ = observed.tracks[index], observed.ids[index]
    series = track.series
    return {
        "id": id_, "name": shorten(series.benchmark, _LONGEST),
        "metric": shorten(series.place.metric, 40),
        "value": units.human(track.series.values[-1], series.place.unit),
        "at": shorten(series.subject(len(series.values) - 1).label, 24),
        "spark": spark(track), "css": f"b-{colour_of(track, id_)}",
        "change": newest_change(observed, track),
    }  # fmt: skip
