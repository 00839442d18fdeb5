"""What became of graphs of the census, as tables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from observatory.benchmarks.catalogue import FATES
from observatory.store.reading.fates import Fate
from observatory.text.plain import shorten
from observatory.text.tables import Table
from observatory.text.units import seconds
from observatory.text.words import several

_NOTE = 200
_LOUD = ("wrong", "collided")
_SILENT = ("hit", "right", "absent")
"""Fates whose notes explain nothing that is missing."""


class Column(NamedTuple):
    """What became of the graphs of one subject."""

    label: str
    graphs: Mapping[str, Fate]
    """By name."""
    compiling: Mapping[str, float] = {}
    """By name, the seconds of the first build that are shown beside it."""


def census_table(backend: str, columns: Sequence[Column]) -> Table:
    """A row for each graph and a column for each subject.

    The footnotes say why a graph is not what it should be, and what each word means.
    """
    names = list(dict.fromkeys(name for one in columns for name in one.graphs))
    rows = [(name, *(_cell(column, name) for column in columns)) for name in names]
    header = ("graph", *(one.label for one in columns))
    title = f"{several(len(names), 'graph')} with {backend}"
    return Table(title, header, tuple(rows), (*_reasons(columns), *_meanings(columns)))


def _word(fate: Fate | None) -> str:
    if fate is None:
        return ""
    if fate.value is not None:
        return f"{fate.value:,.0f}"
    return fate.fate.upper() if fate.fate in _LOUD else fate.fate


def _cell(column: Column, name: str) -> str:
    word = _word(column.graphs.get(name))
    taken = column.compiling.get(name)
    return word if taken is None else f"{word}, {seconds(taken)}"


def _reasons(columns: Sequence[Column]) -> Iterable[str]:
    for column in columns:
        for one in column.graphs.values():
            if one.note and one.fate not in _SILENT:
                yield f"{column.label}, {one.name}: {shorten(one.note, _NOTE)}"


def _meanings(columns: Sequence[Column]) -> Iterable[str]:
    if any(one.compiling for one in columns):
        yield "seconds: of compiling into an empty cache"
    found = {one.fate for column in columns for one in column.graphs.values()}
    for fate, meaning in FATES.items():
        if fate in found:
            yield f"{fate.upper() if fate in _LOUD else fate}: {meaning}"
