"""`observatory export`: export the results as data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from observatory.analyze.frame import select
from observatory.app.results import read
from observatory.cli import options
from observatory.cli.output import naming_problems, on_terminal
from observatory.store.reading.export import export, exported


def command(
    format_: Annotated[
        str, typer.Option("--format", help="csv, json (one object for each row) or parquet.")
    ] = "csv",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="File to write. Default: standard output."
        ),
    ] = None,
    results: options.Results = Path("results"),
    subject: options.Subjects = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    metric: options.Metrics = None,
    strict: options.Strict = False,
) -> None:
    """Export the results as a table with one row for each cell and metric."""
    reading = read(results, on_terminal())
    with naming_problems(reading.problems, strict, nothing=reading.frame.empty):
        rows = select(
            reading.frame, subjects=subject or (), scenarios=scenario or (),
            backends=backend or (), launches=launch or (), metrics=metric or (),
        )  # fmt: skip
        if out is None:
            sys.stdout.buffer.write(exported(rows, format_))
            sys.stdout.buffer.flush()
        else:
            export(rows, format_, out)
