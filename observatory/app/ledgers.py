"""The compiled functions of a subject as a table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from observatory.errors import SelectionError
from observatory.store.base.problems import Problem
from observatory.store.reading import compiled
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import read_results

COLUMNS = {
    "function": "name of the compiled function: the Op, or `outer graph`",
    "outcome": "hit, miss, uncacheable (refused by the cache) or internal (never asked for one)",
    "count": "number of functions of this name and outcome",
    "seconds": "their total time",
    "bytes": "their total size in the cache; 0 if it contains none of them",
}


def ledger(
    subject: str,
    *,
    results: Path | str = "results",
    model: str = "radon",
    scenario: str = "cold",
    backend: str = "NUMBA",
    launch: str = "fork",
    machine: str | None = None,
) -> pd.DataFrame:
    """The functions that one cell of a subject compiled or loaded, slowest first.

    Args:
        subject: The subject as the results name it, e.g. ``3.3.7``.
        results: The results directory.
        model: The cell, together with the next three.
        scenario: See ``model``.
        backend: See ``model``.
        launch: The start method; see ``model``.
        machine: The machine; by default the first one with samples of the cell.

    Returns:
        One row for each name and outcome, with the columns of `COLUMNS`: ``seconds`` in seconds,
        ``bytes`` in bytes. ``attrs`` holds ``subject``, ``cell``, ``machine``, ``columns`` and
        ``units``.

    Raises:
        SelectionError: There is no ledger of this cell; the message lists the cells that have one.
        RecordError: There is no such directory, or a ledger that is needed is broken.

    """
    directory = Path(results)
    read = read_results(directory, directory_for(directory))
    cell = f"{model} {scenario} {backend} {launch}"
    problems: list[Problem] = []
    there: list[str] = []
    for path, journal in read.journals.items():
        header = journal.header
        if header is None or header.subject.label != subject:
            continue
        if machine not in (None, header.machine.machine):
            continue
        functions = compiled.of_journal(path, journal.functions, problems)
        there += functions
        if cell in functions:
            rows = pd.DataFrame(functions[cell], columns=list(COLUMNS))
            rows.attrs = {
                "subject": subject, "cell": cell, "machine": header.machine.machine,
                "columns": dict(COLUMNS), "units": {"seconds": "seconds", "bytes": "bytes"},
            }  # fmt: skip
            return rows
    broken = "".join(f"; {problem}" for problem in problems)
    known = ", ".join(dict.fromkeys(there)) or "none"
    raise SelectionError(
        f"no result has the functions of {subject!r} in {cell}; choose from {known}{broken}"
    )
