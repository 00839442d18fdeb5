"""What pages cost to build and to open, as rows, and the tables of the documentation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median

from scripts.docs.markdown import code, table, wrapped
from scripts.docs.rows import Row, blocks, measured, read

BUILDING, NIGHTS, PAGES = "building", "nights", "pages"
PROJECTS = "numba-benchmark", "generated"
"""Whose pages the documentation compares."""
NOTHING, UNCHANGED, ONE_MORE = "from nothing", "unchanged", "one new file"
ALERTS, ASV = "alerts", "asv publish"
_SIDES = {"ours": "**ours**", "tachyon": "asv-tachyon"}
_NAMES = {ASV: code(ASV), ALERTS: code("observatory alerts")}


class Built(Row):
    """What one process took to build pages, or to look for alerts, of a collection."""

    collection: str
    series: int
    files: int
    values: int
    megabytes: float
    """Of the result files."""
    situation: str
    round: int
    seconds: float
    """CPU time of the process and of those that it started."""
    peak: float
    """The most memory of one of them, in MB."""
    one_cpu: bool = False
    """Whether all of them were kept on one CPU."""


class _Collection:
    """The rows of one collection: medians over rounds."""

    def __init__(self, rows: Sequence[Built]) -> None:
        self.rows, self.first = rows, rows[0]
        self.situations = list(dict.fromkeys(one.situation for one in rows))

    def seconds(self, situation: str) -> float:
        return median(one.seconds for one in self.rows if one.situation == situation)

    def peak(self, situation: str) -> str:
        return f"{median(one.peak for one in self.rows if one.situation == situation):.0f} MB"

    @property
    def with_asv(self) -> bool:
        return ASV in self.situations


def _cpu(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.{0 if seconds >= 100 else 1}f} s"


def _by_collection(rows: Sequence[Built], *, with_asv: bool) -> list[_Collection]:
    newest = {(one.collection, one.situation, one.round): one for one in rows}.values()
    names = dict.fromkeys(one.collection for one in newest)
    every = [_Collection([one for one in newest if one.collection == name]) for name in names]
    return [one for one in every if one.with_asv == with_asv]


def building(rows: Sequence[Built]) -> Iterator[str]:
    """Yield the blocks of what building costs beside `asv publish`; none without rows of asv."""
    collections = _by_collection(rows, with_asv=True)
    if not collections:
        return
    lines = []
    for one in collections:
        first = one.first
        about = (
            f"{first.collection}, {first.series:,} series, {first.files:,} files, "
            f"{first.megabytes:,.0f} MB"
        )
        for situation in one.situations:
            factor = one.seconds(ASV) / one.seconds(situation)
            times = (
                "" if situation == ASV else f"{factor:.{0 if factor >= 20 else 1}f} times as long"
            )
            shown = _NAMES.get(situation, situation)
            cpu = _cpu(one.seconds(situation))
            lines.append((about, shown, cpu, one.peak(situation), times))
            about = ""
    yield table(("collection", "situation", "CPU time", "memory", f"{code(ASV)} takes"), lines)
    own = [row for one in collections for row in one.rows]
    rounds = max(one.round for one in own)
    taken = f"Medians of {rounds} rounds" if rounds > 1 else "One round"
    yield wrapped(f"{taken} in turns with asv. {measured(own)}")


def sizes(rows: Sequence[Built]) -> Iterator[str]:
    """Yield the blocks of what building costs by size; none without collections without asv."""
    collections = _by_collection(rows, with_asv=False)
    if not collections:
        return
    collections.sort(key=lambda one: (one.first.series, one.first.values))
    exponents = [_exponent(one, collections) for one in collections]
    yield table(
        ("series", "values in each", "CPUs used", "from nothing: CPU time",
         "exponent, from the next smaller", "memory", "one new file: CPU time", "memory"),
        ((f"{one.first.series:,}", f"{one.first.values / one.first.series:.0f}",
          "1" if one.first.one_cpu else f"{one.first.taken.cpus}", _cpu(one.seconds(NOTHING)),
          exponent, one.peak(NOTHING), _cpu(one.seconds(ONE_MORE)), one.peak(ONE_MORE))
         for one, exponent in zip(collections, exponents, strict=True)),
    )  # fmt: skip
    yield wrapped(measured([row for one in collections for row in one.rows]))


def _exponent(larger: _Collection, collections: Sequence[_Collection]) -> str:
    """The power of the number of series or of values with which the time grows.

    From the next smaller collection with as many values in each series, else as many series.
    """
    series, values = larger.first.series, larger.first.values
    smaller = [
        *(one for one in collections if one.first.series == series and one.first.values < values),
        *(one for one in collections
          if one.first.series < series and one.first.values * series == values * one.first.series),
    ]  # fmt: skip
    if not smaller:
        return ""
    before = smaller[-1]
    power = math.log(larger.seconds(NOTHING) / before.seconds(NOTHING))
    return f"{power / math.log(values / before.first.values):.2f}"


class Night(Row):
    """Seconds of CPU time that one more value for each series takes."""

    series: int
    values: int
    round: int
    reading: float
    analysis: float
    """Of finding the levels of all series, and the alerts."""


def nights(rows: Sequence[Night]) -> Iterator[str]:
    """Yield the blocks of what one more night costs."""
    newest = {(one.series, one.values, one.round): one for one in rows}.values()
    sizes = sorted({(one.series, one.values) for one in newest})
    each = [[one for one in newest if (one.series, one.values) == size] for size in sizes]
    yield table(
        ("series", "values in each", "reading", "levels and alerts", "least to most"),
        ((f"{own[0].series:,}", f"{own[0].values / own[0].series:.0f}",
          _cpu(median(one.reading for one in own)), _cpu(median(one.analysis for one in own)),
          f"{min(one.analysis for one in own):.2f} to {max(one.analysis for one in own):.2f} s")
         for own in each),
    )  # fmt: skip
    rounds = max(one.round for one in newest)
    yield wrapped(f"CPU time, medians of {rounds} rounds. {measured(newest)}")


class Opened(Row):
    """Medians over loads of a page. Times in milliseconds; None if it never came to that."""

    project: str
    page: str
    browser: str
    side: str
    loads: int
    paint: float | None
    chart: float | None
    requests: float
    bytes: float
    errors: float


def pages(rows: Sequence[Opened], project: str) -> Iterator[str]:
    """Yield the blocks of what opening the pages of one project costs."""
    newest = {
        (one.page, one.browser, one.side): one for one in rows if one.project == project
    }  # fmt: skip
    yield table(
        ("page", "browser", "side", "first paint", "chart drawn", "requests", "bytes", "errors"),
        ((one.page, one.browser, _SIDES.get(one.side, one.side),
          _milliseconds(one.paint), "-" if one.page == "first" else _milliseconds(one.chart),
          f"{one.requests:.0f}", f"{one.bytes / 1000:,.0f} kB", f"{one.errors:.0f}")
         for one in newest.values()),
    )  # fmt: skip
    loads = max(one.loads for one in newest.values())
    yield wrapped(f"Medians of {loads} loads. {measured(newest.values())}")


def _milliseconds(time: float | None) -> str:
    return "never" if time is None else f"{time:.0f} ms"


def parts() -> dict[str, dict[str, str]]:
    """From the path of a page to its parts: from name to content, which is empty without rows."""
    built, night, opened = read(Built, BUILDING), read(Night, NIGHTS), read(Opened, PAGES)
    return {
        "docs/explanation/building-pages.md": {
            "building": blocks(building, built), "building by size": blocks(sizes, built),
            "one more night": blocks(nights, night),
        },
        "docs/beside-asv.md": {
            f"pages of {project}": blocks(
                partial(pages, project=project), [one for one in opened if one.project == project]
            )
            for project in PROJECTS
        },
    }  # fmt: skip
