"""Every series in pages of a few dozen: the whole collection without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.colours import colour_of
from dashboard.drawing.sparkline import Spark, spark
from dashboard.pages.newest_value import NewestChange, newest_change
from dashboard.site_input import SiteInput
from observatory.text import units
from observatory.text.plain import shorten

PER_PAGE = 60
_LONGEST = 140


@dataclass(frozen=True)
class Entry:
    """One series in one row."""

    id: str
    name: str
    metric: str
    value: str
    at: str
    spark: Spark | None
    css: str
    change: NewestChange


@dataclass(frozen=True)
class ListPage:
    """Series of one or more lines; ``groups`` are a line's name and its entries."""

    number: int
    of: int
    groups: tuple[tuple[str, tuple[Entry, ...]], ...]

    @property
    def path(self) -> str:
        """Where the page is."""
        return path_of(self.number)


def path_of(number: int) -> str:
    """Where the list of that number is; the first is 1."""
    return f"list/{number:03d}.html"


def list_pages(observed: SiteInput) -> Iterator[ListPage]:
    """All series in their order, PER_PAGE at a time."""
    count = len(observed.tracks)
    pages = max(1, -(-count // PER_PAGE))
    for number in range(1, pages + 1):
        members = range((number - 1) * PER_PAGE, min(number * PER_PAGE, count))
        groups: dict[str, list[Entry]] = {}
        for index in members:
            line = observed.tracks[index].series.line
            groups.setdefault(f"{line.name}: {line.era}", []).append(_entry(observed, index))
        shown = tuple((shorten(name, 200), tuple(entries)) for name, entries in groups.items())
        yield ListPage(number, pages, shown)


def _entry(observed: SiteInput, index: int) -> Entry:
    track, id_ = observed.tracks[index], observed.ids[index]
    series = track.series
    last = series.subject(len(series.values) - 1)
    return Entry(
        id_, shorten(series.benchmark, _LONGEST), shorten(series.place.metric, 40),
        units.human(track.newest.value, series.place.unit), shorten(last.label, 24),
        spark(track), f"b-{colour_of(track, id_)}", newest_change(observed, track),
    )  # fmt: skip
