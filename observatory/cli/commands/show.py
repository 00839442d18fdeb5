"""`observatory show`: show results as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from observatory.analyze.frame import select
from observatory.app.results import Reading, read
from observatory.cli import options
from observatory.cli.output import Console, naming_problems, on_terminal, show
from observatory.errors import SelectionError
from observatory.store.base.patterns import contains
from observatory.text.benchmark_tables import benchmark_tables, of_others
from observatory.text.tables import DEFAULT_METRICS, Table, comparison_tables, subject_tables


def command(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUBJECT...",
            help="Subjects in the results, e.g. 3.3.7, or the beginning of a commit's hash. "
            "Default: the newest.",
        ),
    ] = None,
    results: options.Results = Path("results"),
    metric: options.Metrics = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    benchmark: options.Benchmark = None,
    strict: options.Strict = False,
) -> None:
    """Show the table of one subject, or of several side by side.

    Each subject is a column with the values of the latest run of each cell, or of each benchmark
    of another project.
    """  # fmt: skip
    reading = read(results, on_terminal())
    console = Console()
    with naming_problems(reading.problems, strict, nothing=reading.frame.empty):
        chosen = select(
            reading.frame, scenarios=scenario or (), backends=backend or (), launches=launch or ()
        )
        if metric is not None:
            select(chosen, metrics=metric)  # names an unknown one
        if subjects is None:
            subjects = [newest_subject(chosen)]
        for table in tables(reading, chosen, subjects, metric, benchmark):
            show(console, table)


def tables(
    reading: Reading,
    frame: pd.DataFrame,
    subjects: list[str],
    metrics: list[str] | None,
    benchmark: str | None = None,
) -> list[Table]:
    """The tables of one subject, or of several side by side.

    ``benchmark``: only benchmarks of other projects with such a name.
    """
    others = of_others(frame)
    ours = set(frame["subject"][frame["backend"] != ""])
    if benchmark is not None or (len(others) and not ours & set(subjects)):
        rows = select(others, metrics=metrics or ())
        rows = rows[[contains(name, benchmark) for name in rows["scenario"]]]
        if rows.empty:
            raise SelectionError(f"no benchmark of another project matches {benchmark!r}")
        return benchmark_tables(rows, subjects)
    if len(subjects) == 1 and metrics is None:
        return subject_tables(frame, subjects[0], reading.notes)
    if metrics is None:
        metrics = list(DEFAULT_METRICS)
    return comparison_tables(frame, subjects, metrics, reading.notes, reading.sources)


def newest_subject(frame: pd.DataFrame) -> str:
    """The subject of the latest date. Raises SelectionError for an empty frame."""
    if frame.empty:
        raise SelectionError("there are no results; run `observatory run --quick` first")
    return str(frame.sort_values("date")["subject"].iloc[-1])
