"""What became of graphs of the census, as tables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.catalogue import FATES
from observatory.store.reading.fates import Fate
from observatory.text.plain import shorten
from observatory.text.tables import Table
from observatory.text.words import several

_NOTE = 200
_LOUD = ("wrong", "collided")
_SILENT = ("hit", "right", "absent")
"""Fates whose notes explain nothing that is missing."""


def census_table(backend: str, columns: Sequence[tuple[str, dict[str, Fate]]]) -> Table:
    """A row for each graph and a column for each subject.

    ``columns``: labels of subjects, each with its graphs by name. The footnotes say why a graph is
    not what it should be, and what each word means.
    """
    names = list(dict.fromkeys(name for _, graphs in columns for name in graphs))
    rows = [(name, *(_word(graphs.get(name)) for _, graphs in columns)) for name in names]
    header = ("graph", *(label for label, _ in columns))
    title = f"{several(len(names), 'graph')} with {backend}"
    return Table(title, header, tuple(rows), (*_reasons(columns), *_meanings(columns)))


def _word(fate: Fate | None) -> str:
    if fate is None:
        return ""
    if fate.value is not None:
        return f"{fate.value:,.0f}"
    return fate.fate.upper() if fate.fate in _LOUD else fate.fate


def _reasons(columns: Sequence[tuple[str, dict[str, Fate]]]) -> Iterable[str]:
    for label, graphs in columns:
        for one in graphs.values():
            if one.note and one.fate not in _SILENT:
                yield f"{label}, {one.name}: {shorten(one.note, _NOTE)}"


def _meanings(columns: Sequence[tuple[str, dict[str, Fate]]]) -> Iterable[str]:
    found = {one.fate for _, graphs in columns for one in graphs.values()}
    for fate, meaning in FATES.items():
        if fate in found:
            yield f"{fate.upper() if fate in _LOUD else fate}: {meaning}"
