"""Read a results directory as tables: the tidy frame, and the functions of one subject."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from observatory.analyze.frame import frame as frame_of
from observatory.analyze.frame import select
from observatory.app.progress import Progress, doing, silent
from observatory.benchmarks.catalogue import Cell, no_such
from observatory.errors import SelectionError
from observatory.store.base.problems import Problem
from observatory.store.journal.latest import Note
from observatory.store.reading.beside import problems_beside
from observatory.store.reading.cache import directory_for
from observatory.store.reading.compiled import KEPT_FUNCTIONS
from observatory.store.reading.read import read_results

COLUMNS = {
    "subject": "what was measured: a release (3.3.7), a commit, a wheel",
    "pytensor": "version of PyTensor; empty in results of other projects",
    "numba": "version of numba; empty if there is none",
    "python": "version of Python, e.g. 3.13",
    "machine": "name of the machine that measured",
    "model": "the graph, e.g. radon; empty in results of other projects",
    "scenario": "what happens to the cache, e.g. warm_disk; of other projects the benchmark",
    "backend": "NUMBA, C, C_VM, ...",
    "launch": "start method of the measured process: fork, spawn or forkserver",
    "metric": "what was measured, e.g. compile_time; higher is worse",
    "unit": "unit of value, ci_low and ci_high",
    "kind": "exact, near_exact or noisy",
    "value": "median of the samples of the latest run, in the metric's unit",
    "n": "number of samples that the value rests on",
    "ci_low": "lower end of asv's 99 % interval of the median; NaN below five samples",
    "ci_high": "its upper end",
    "date": "when the subject was made (released or committed), UTC",
}
"""What each column of the frame means; `frame` puts it into ``attrs["columns"]`` as well."""

LEDGER_COLUMNS = {
    "function": "name of the compiled function: the Op, or `outer graph`",
    "outcome": "hit, miss, uncacheable (refused by the cache) or internal (never asked for one)",
    "count": "number of functions of this name and outcome",
    "seconds": "their total time",
    "bytes": "their total size in the cache; 0 if it contains none of them",
}


@dataclass(frozen=True)
class Reading:
    """What was read from a results directory."""

    frame: pd.DataFrame
    notes: Mapping[tuple[str, str], Sequence[Note]]
    """Failed samples and the like, by machine and Python."""
    problems: tuple[Problem, ...]
    """Files that could not be read."""
    sources: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """What counted work: by machine and subject, and then by cell and metric."""


def read(directory: Path, progress: Progress = silent) -> Reading:
    """Read a results directory. Raises RecordError where there is none."""
    with doing(progress, f"reading {directory}"):
        results = read_results(directory, directory_for(directory))
        rows = frame_of(results)
    notes: dict[tuple[str, str], list[Note]] = defaultdict(list)
    for journal in results.journals.values():
        if (header := journal.header) is not None:
            notes[header.machine.machine, header.subject.python] += journal.notes
    sources = {
        (file.machine, file.header.subject.label): file.counted_by
        for file in results.files
        if file.header is not None
    }
    problems = (*results.problems, *problems_beside(directory))
    return Reading(rows, notes, problems, sources)


def frame(
    results: Path | str = "results",
    *,
    subjects: Sequence[str] = (),
    scenarios: Sequence[str] = (),
    backends: Sequence[str] = (),
    launches: Sequence[str] = (),
    metrics: Sequence[str] = (),
) -> pd.DataFrame:
    """All results, with one row for each cell and metric of each subject.

    Args:
        results: A directory of asv results, of this project or of any other.
        subjects: Only these subjects; if empty, all. The next four limit other columns.
        scenarios: See ``subjects``.
        backends: See ``subjects``.
        launches: Only these start methods.
        metrics: See ``subjects``.

    Returns:
        A tidy frame with the columns of `COLUMNS`, sorted by date. ``value``, ``ci_low`` and
        ``ci_high`` are in the row's ``unit`` (seconds, bytes, counts). ``attrs`` holds ``units``
        (metric to unit), ``columns`` (column to meaning) and ``problems`` (a sentence for each
        file that could not be read).

    Raises:
        RecordError: There is no such directory.
        SelectionError: No row matches the filters; the message lists the words that exist.

    """
    reading = read(Path(results))
    rows = select(
        reading.frame, subjects=subjects, scenarios=scenarios, backends=backends,
        launches=launches, metrics=metrics,
    )  # fmt: skip
    pairs = rows[["metric", "unit"]].drop_duplicates()
    rows.attrs = {
        "units": dict(zip(pairs["metric"], pairs["unit"], strict=True)),
        "columns": dict(COLUMNS),
        "problems": [str(problem) for problem in reading.problems],
    }
    return rows


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
        One row for each name and outcome, with the columns of `LEDGER_COLUMNS`; ``seconds`` is in
        seconds and ``bytes`` in bytes. ``attrs`` holds ``subject``, ``cell``, ``machine``,
        ``columns`` and ``units``.

    Raises:
        SelectionError: There is no ledger of this cell; the message lists the cells that have one.
        RecordError: There is no such directory, or a ledger that is needed is broken.

    """
    directory = Path(results)
    read = read_results(directory, directory_for(directory))
    cell = str(Cell(model, scenario, backend, launch))
    problems: list[Problem] = []
    there: list[str] = []
    headers = [one.header for one in read.journals.values() if one.header is not None]
    machines = sorted({one.machine.machine for one in headers})
    if machine is not None and machine not in machines:
        raise SelectionError(no_such("machine", machine, machines))
    for path, journal in read.journals.items():
        header = journal.header
        if header is None or header.subject.label != subject:
            continue
        if machine not in (None, header.machine.machine):
            continue
        functions = KEPT_FUNCTIONS.of_journal(path, journal.functions, problems)
        there += functions
        if cell in functions:
            rows = pd.DataFrame(functions[cell], columns=list(LEDGER_COLUMNS))
            rows.attrs = {
                "subject": subject, "cell": cell, "machine": header.machine.machine,
                "columns": dict(LEDGER_COLUMNS), "units": {"seconds": "seconds", "bytes": "bytes"},
            }  # fmt: skip
            return rows
    broken = "".join(f"; {problem}" for problem in problems)
    known = ", ".join(dict.fromkeys(there)) or "none"
    raise SelectionError(
        f"no result has the functions of {subject!r} in {cell}; choose from {known}{broken}"
    )
