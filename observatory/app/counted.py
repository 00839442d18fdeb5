"""What was counted of single graphs, or what became of them, as a table: by subject and graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from observatory.benchmarks.catalogue import Cell
from observatory.errors import SelectionError
from observatory.store.base.patterns import matches
from observatory.store.base.problems import Problem
from observatory.store.reading.cache import directory_for
from observatory.store.reading.fates import KEPT_FATES
from observatory.store.reading.read import read_results

COLUMNS = {
    "subject": "what was measured: a release (3.3.7), a commit, a wheel",
    "graph": "name of the graph",
    "counted": "what is counted of it, where several things are counted in its scenario",
    "fate": "the outcome: `counted` where something is counted, `absent`, `raised`, ...",
    "value": "what was counted; NaN if nothing was",
    "note": "why, where there is a reason",
}


def graphs(
    model: str,
    *,
    results: Path | str = "results",
    scenario: str = "topics",
    backend: str = "NUMBA",
    launch: str = "spawn",
    like: Sequence[str] = ("*",),
    subjects: Sequence[str] = (),
) -> pd.DataFrame:
    """The graphs of one cell, with what was counted of each or what became of it.

    Args:
        model: The cell, together with the next parameters; its graphs are built one by one.
        results: The results directory.
        scenario: See ``model``.
        backend: See ``model``.
        launch: The start method; see ``model``.
        like: Names of graphs, in which * stands for any text.
        subjects: Only these subjects; if empty, all.

    Returns:
        One row for each subject, graph and count, with the columns of `COLUMNS`: the oldest subject
        first, and the graphs in the order of the model. ``attrs`` holds ``cell`` and ``columns``.

    Raises:
        SelectionError: There is no such graph in the results; the message lists the cells.
        RecordError: There is no such directory.

    """
    directory = Path(results)
    cell = str(Cell(model, scenario, backend, launch))
    problems: list[Problem] = []
    there: dict[str, None] = {}
    found = []
    for path, journal in read_results(directory, directory_for(directory)).journals.items():
        if journal.header is None:
            continue
        subject = journal.header.subject
        fates = KEPT_FATES.of_journal(path, journal.fates, problems)
        there |= dict.fromkeys(fates)
        if cell in fates and (not subjects or subject.label in subjects):
            found.append((subject.date, subject.label, fates[cell]))
    rows = [
        (label, graph, counted, one.fate, one.value, one.note)
        for _, label, fates_of_one in sorted(found, key=lambda each: each[:2])
        for one in fates_of_one
        for graph, _, counted in [one.name.partition(": ")]
        if any(matches(graph, pattern) for pattern in like)
    ]
    if not rows:
        broken = "".join(f"; {problem}" for problem in problems)
        raise SelectionError(
            f"no result has such graphs in {cell}; choose from {', '.join(there) or 'none'}{broken}"
        )
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"value": float})
    table.attrs = {"cell": cell, "columns": dict(COLUMNS)}
    return table
