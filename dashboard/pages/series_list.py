"""Every series in pages of a few dozen: the whole collection without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from observatory.dashboard.site_input import SiteInput
from observatory.text.plain import shorten

PER_PAGE = 60


def path_of(number: int) -> str:
    """Where the list of that number is; the first is 1."""
    return f"list/{number:03d}.html"


def list_pages(observed: SiteInput, rows: Sequence[Markup]) -> Iterator[dict[str, Any]]:
    """All series in their order, PER_PAGE at a time: the values of `list.html.j2`.

    ``rows``: HTML of the row of each series. ``groups`` are the names of lines with the rows of
    their series.
    """
    count = len(observed.tracks)
    pages = max(1, -(-count // PER_PAGE))
    names = [shorten(f"{line.name}: {line.era}", 200) for line in observed.lines]
    for number in range(1, pages + 1):
        groups: dict[str, list[Markup]] = {}
        for index in range((number - 1) * PER_PAGE, min(number * PER_PAGE, count)):
            name = names[observed.line_of(observed.tracks[index])]
            groups.setdefault(name, []).append(rows[index])
        yield {"number": number, "of": pages, "groups": list(groups.items()), "path_of": path_of}
