"""How builds grow with the size of their graphs, as tables and sentences. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from observatory.analyze.growth.curve import Exponent
from observatory.analyze.growth.families import COUNTED, JUDGED, LIMITED, Family
from observatory.benchmarks.catalogue import METRICS
from observatory.text.plain import shorten
from observatory.text.tables import Table
from observatory.text.units import MISSING, count, human
from observatory.text.words import listed

MEMORY = "build_memory"
_WHY = 120
_UNSURE = 2.0
"""An interval that is wider says nothing."""
Grown: TypeAlias = Mapping[str, Sequence[Family]]
"""By subject, the oldest first."""
_EXPONENTS = {JUDGED: "Python calls of a build", LIMITED: "CPU time of a build",
              "call_time": "time of a call"}  # fmt: skip
"""The metrics whose exponents are shown, and what a title calls them."""


def exponent(found: Exponent | None) -> str:
    """An exponent with its interval of 95 %.

    >>> exponent(Exponent(1.984, 1.9, 2.07)), exponent(Exponent(0.0, 0.0, 0.0))
    ('1.98 (1.90 to 2.07)', '0, does not grow')
    """
    if found is None:
        return MISSING
    if found.estimate == found.low == found.high == 0:
        return "0, does not grow"
    if found.high - found.low > _UNSURE:
        return f"about {found.estimate:.1f}"
    return f"{found.estimate:.2f} ({found.low:.2f} to {found.high:.2f})"


def growth_tables(backend: str, grown: Grown, place: str = "") -> list[Table]:
    """The tables of one backend: exponents, what one more costs, and functions compiled.

    ``place``: the machine and the Python, where others have tables, too; titles name it.
    """
    backend = f"{backend}, {place}" if place else backend
    tables = [_exponents(backend, metric, grown) for metric in _EXPONENTS]
    return [one for one in (*tables, _each(backend, grown), _functions(backend, grown)) if one.rows]


def cliffs(label: str, family: Family, metric: str) -> Iterator[str]:
    """A sentence for each cliff of a family."""
    for one in family.curve(metric).cliffs:
        least = "at least " if one.at_least else ""
        yield (
            f"{label}, {family.name}: a cliff between {one.below} and {one.at} {family.noun}, "
            f"where one more costs {least}{count(round(one.each, 1))} times as much as before; in "
            f"all {least}{count(round(one.times, 1))} times as much"
        )


def ended(label: str, family: Family) -> str:
    """Which sizes were not built because one took too long; empty if all were."""
    size = family.ended
    if size is None:
        return ""
    return (
        f"{label}, {family.name}: {count(size.number)} {family.noun} take more than "
        f"{size.limit:g} s of CPU time, the limit; larger sizes are not built"
    )


def failed(label: str, family: Family) -> str:
    """Which sizes do not work, and what the first of them says; empty if all do."""
    sizes = [count(one.size.number) for one in family.failed if one.size is not None]
    if not sizes:
        return ""
    why = shorten(" ".join((family.failed[0].note or "it died").split()), _WHY)
    return f"{label}, {family.name}: {listed(sizes)} {family.noun} do not work: {why}"


def _names(grown: Grown) -> list[str]:
    return list(dict.fromkeys(family.name for of in grown.values() for family in of))


def _family(families: Sequence[Family], name: str) -> Family | None:
    return next((one for one in families if one.name == name), None)


def _exponents(backend: str, metric: str, grown: Grown) -> Table:
    rows = []
    for name in _names(grown):
        own = [_family(of, name) for of in grown.values()]
        cells = [exponent(one.curve(metric).exponent) if one else MISSING for one in own]
        told = metric == JUDGED and any(one and one.failed for one in own)
        if told or any(cell != MISSING for cell in cells):
            rows.append((name, *cells))
    notes = [
        note
        for label, of in grown.items()
        for family in of
        for note in _notes(label, family, metric)
    ]
    title = f"{_EXPONENTS[metric]} with {backend}: the power of the size with which it grows"
    return Table(title, ("family", *grown), tuple(rows), tuple(notes))


def _notes(label: str, family: Family, metric: str) -> Iterator[str]:
    if metric in (JUDGED, LIMITED):  # times of calls are too short to tell a cliff from noise
        yield from cliffs(label, family, metric)
    if metric == JUDGED and (note := failed(label, family)):
        yield note
    if metric == LIMITED and (note := ended(label, family)):
        yield note


def _each(backend: str, grown: Grown) -> Table:
    rows = []
    for name in _names(grown):
        own = [_family(of, name) for of in grown.values()]
        cells = [_cost(one) if one else MISSING for one in own]
        if any(cell != MISSING for cell in cells):
            noun = next(one.noun for one in own if one)
            rows.append((f"{name} ({noun})", *cells))
    title = f"What one more costs in a build with {backend}: CPU time, and peak memory"
    return Table(title, ("family", *grown), tuple(rows))


def _cost(family: Family) -> str:
    found = [(metric, family.curve(metric).each) for metric in (LIMITED, MEMORY)]
    known = [human(each, METRICS[metric].unit) for metric, each in found if each is not None]
    return ", ".join(known) or MISSING


def _functions(backend: str, grown: Grown) -> Table:
    rows = []
    for name in _names(grown):
        own = [_family(of, name) for of in grown.values()]
        if not any(one and one.equal_layers for one in own):
            continue
        cells = [functions(one) if one else MISSING for one in own]
        if any(cell != MISSING for cell in cells):
            rows.append((name, *cells))
    title = f"Functions compiled with {backend} for a chain of equal layers"
    return Table(title, ("family", *grown), tuple(rows))


def functions(family: Family) -> str:
    """The functions that the sizes of a family compile: "11 with 1 to 300 layers"."""
    points = family.curve(COUNTED).points
    if not points:
        return MISSING
    values = sorted({point.value for point in points})
    sizes = f"with {points[0].size} to {points[-1].size}"
    if len(values) == 1:
        return f"{count(values[0])} {sizes}"
    return listed([f"{count(point.value)} with {point.size}" for point in points])
