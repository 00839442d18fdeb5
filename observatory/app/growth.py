"""How builds grow with the size of their graphs, read from results: by subject and cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from observatory.analyze.growth.families import Family, families
from observatory.app.where import measured_on
from observatory.benchmarks.catalogue import BACKENDS, Cell, no_such
from observatory.errors import SelectionError
from observatory.store.base.problems import Problem
from observatory.store.reading.beside import problems_beside
from observatory.store.reading.cache import directory_for
from observatory.store.reading.growing import Growing
from observatory.store.reading.read import read_results
from observatory.store.records.sample import Build


@dataclass(frozen=True)
class Grown:
    """The families of one subject in one cell."""

    label: str
    cell: Cell
    families: tuple[Family, ...]
    place: str
    """The Python and the machine, in words: numbers of two of them are not compared."""


def growth(
    results: Path,
    subjects: Sequence[str] = (),
    backend: str | None = None,
    problems: list[Problem] | None = None,
) -> list[Grown]:
    """Return what was measured of growing graphs, the oldest subject first.

    ``subjects``: labels; empty: all that have such graphs. What is unreadable is added to
    ``problems``, also if there is nothing to show. Raises SelectionError if there is
    nothing to show or no such backend, and RecordError if there is no such directory.
    """
    if backend is not None and backend not in BACKENDS:
        raise SelectionError(no_such("backend", backend, BACKENDS))
    read = read_results(results, directory_for(results))
    if problems is not None:
        problems += (*read.problems, *problems_beside(results))
    found = [
        (
            header.subject.date,
            Grown(
                header.subject.label,
                cell,
                tuple(families(builds)),
                measured_on(header),
            ),
        )
        for journal in read.journals.values()
        if (header := journal.header) is not None
        for cell, builds in _by_cell(journal.growth)
        if backend in (None, cell.backend)
    ]
    known = dict.fromkeys(one.label for _, one in found)
    with_backend = "" if backend is None else f" with {backend}"
    if missing := [name for name in subjects if name not in known]:
        raise SelectionError(
            f"no growing graphs were measured of {', '.join(map(repr, missing))}{with_backend}; "
            "`observatory run --preset growth --subject ...` measures them"
        )
    if not found:
        raise SelectionError(
            f"{results} has no growing graphs{with_backend}; `observatory run --preset growth` "
            "measures them"
        )
    ordered = sorted(found, key=lambda pair: (pair[0], pair[1].label, pair[1].cell))
    return [one for _, one in ordered if not subjects or one.label in subjects]


def _by_cell(growing: Growing) -> Iterator[tuple[Cell, Sequence[Build]]]:
    return ((Cell(*words.split()), builds) for words, builds in growing.items())
