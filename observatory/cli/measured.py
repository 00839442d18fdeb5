"""How a command that measured ends: the table, what went wrong, where things are."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from observatory.app.measurement import Measurement
from observatory.app.results import read
from observatory.cli.problems import report_problems
from observatory.cli.tables import render
from observatory.text.tables import subject_tables

_MOST_TABLES = 2


def finish(console: Console, measurement: Measurement, page: Path | None = None) -> None:
    """Print the outcome of a measurement, and end with its exit status if that is not 0."""
    reading = read(measurement.results)
    ours = reading.frame[reading.frame["machine"] == measurement.machine]
    shown = [label for label in measurement.labels if label in set(ours["subject"])]
    for label in shown if len(shown) <= _MOST_TABLES else ():
        for table in subject_tables(ours, label, reading.notes):
            console.print(render(table))
    console.print(measurement.tally.sentence(), markup=False, highlight=False)
    print(f"Results: {measurement.results.resolve()}")
    if page is not None:
        print(f"The page: {page}")
    report_problems(reading.problems, strict=False)
    if measurement.exit_code:
        raise typer.Exit(measurement.exit_code)
