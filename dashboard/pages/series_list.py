"""Every series in pages of a few dozen: the whole collection without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from observatory.dashboard.site_input import SiteInput
from observatory.text.plain import shorten

PER_PAGE = 60


def path_of(number: int) -> str:
    """Where the list of that number is; the first is 1."""
    return f"list/{number:03d}.html"


class ListPage(NamedTuple):
    """One page: its number, how many there are, and the series of each line by its name."""

    number: int
    of: int
    groups: list[tuple[str, list[int]]]


def list_pages(observed: SiteInput) -> Iterator[ListPage]:
    """All series in their order, PER_PAGE at a time, by their numbers."""
    count = len(observed.tracks)
    pages = max(1, -(-count // PER_PAGE))
    names = [shorten(f"{line.name}: {line.era}", 200) for line in observed.lines]
    for number in range(1, pages + 1):
        groups: dict[str, list[int]] = {}
        for index in range((number - 1) * PER_PAGE, min(number * PER_PAGE, count)):
            name = names[observed.line_of(observed.tracks[index])]
            groups.setdefault(name, []).append(index)
        yield ListPage(number, pages, list(groups.items()))
