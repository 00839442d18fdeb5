"""What a chart shows, before it is drawn: lines of points, and the table of its numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """One release on one line; ``value`` None is a gap."""

    value: float | None
    low: float | None
    high: float | None
    text: str
    crashed: bool = False
    entry: str = ""
    """The value alone, for the table."""
    apart: bool = False
    """Whether it is not comparable with the point before it: no line joins them."""


@dataclass(frozen=True)
class ChartLine:
    """One backend along the releases, a point for each."""

    name: str
    css: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Table:
    """The numbers of a picture, for those who do not see it or want to copy them."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Panel:
    """One picture and its table."""

    slug: str
    scenario: str
    title: str
    subtitle: str
    releases: tuple[str, ...]
    lines: tuple[ChartLine, ...]
    table: Table
    unit: str = "seconds"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return all(point.value is None for line in self.lines for point in line.points)
