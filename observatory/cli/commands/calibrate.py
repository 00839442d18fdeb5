"""`observatory calibrate`: what chance alone does on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from observatory.analyze.comparison.noisy import FEWEST
from observatory.app.calibration import calibrate, calibrate_saved
from observatory.app.measurement import TIMEOUT
from observatory.app.session import Session
from observatory.cli import options
from observatory.cli.progress import TerminalProgress
from observatory.cli.tables import render
from observatory.run.here import STATE
from observatory.run.presets import Narrowed
from observatory.store.journal.models import new_run
from observatory.store.reading.saved import INTERLEAVED
from observatory.store.records import calibration
from observatory.store.records.calibration import Floor
from observatory.store.records.machine import this_machine
from observatory.text.tables import Table

_FEWEST_SAMPLES = 4 * FEWEST


def command(
    subject: Annotated[str, typer.Option(help="What to measure it with.")] = "newest",
    samples: Annotated[
        int,
        typer.Option(help="Timed processes of each cell.", min=2 * FEWEST),
    ] = _FEWEST_SAMPLES,
    saved: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Measure nothing: learn from the samples that an earlier one took."
        ),
    ] = None,
    python: Annotated[str | None, typer.Option(help="Python of the environment.")] = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
) -> None:
    """Measure what chance alone does to times on this machine.

    One subject is measured against itself. The outcome, results/calibrations/<machine>.json, is
    the smallest change that `observatory
    compare` takes seriously on this machine, cell by cell. About ten minutes; do it on the
    machine as it will be when comparing, and again when the machine has changed.
    """  # fmt: skip
    narrowed = Narrowed(None, scenario, backend, launch)
    if saved is not None:
        found = calibrate_saved(saved, narrowed)
    else:
        session = Session(
            results=results, state=state, machine=this_machine(machine), timeout=timeout,
            run=new_run(INTERLEAVED), progress=TerminalProgress(Console(stderr=True)),
        )  # fmt: skip
        found = calibrate(session, subject, samples, narrowed, python)
    path = calibration.save(results, found)
    Console().print(render(_table(found.floors, found.machine.machine)))
    print(f"Calibration: {path}")


def _table(floors: list[Floor], machine: str) -> Table:
    rows = [
        (f.cell.scenario, f.cell.backend, f.cell.launch, f.metric, f"{f.change:.2%}")
        for f in floors
        if f.kind == "noisy"
    ]
    return Table(
        title=f"What chance does on {machine}",
        header=("scenario", "backend", "launch", "metric", f"1 % of {FEWEST} vs {FEWEST} exceed"),
        rows=tuple(rows),
        footnotes=(),
    )
