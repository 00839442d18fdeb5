"""`observatory calibrate`: how much times vary by chance on this machine."""

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
from observatory.run.local import STATE
from observatory.run.presets import Narrowed
from observatory.store.journal.models import new_run
from observatory.store.reading.saved import INTERLEAVED
from observatory.store.records import calibration
from observatory.store.records.calibration import Floor
from observatory.store.records.machine import this_machine
from observatory.text.tables import Table

_FEWEST_SAMPLES = 4 * FEWEST


def command(
    subject: Annotated[str, typer.Option(help="The subject to measure.")] = "newest",
    samples: Annotated[
        int,
        typer.Option(help="Number of timed processes for each cell.", min=2 * FEWEST),
    ] = _FEWEST_SAMPLES,
    saved: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Read the samples of this directory instead of measuring."
        ),
    ] = None,
    python: options.Python = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
) -> None:
    """Measure how much times vary by chance on this machine.

    The command measures one subject against itself in about ten minutes. It writes the noise floor
    of each cell, the smallest change that `observatory compare` reports on this machine, to
    RESULTS/calibrations/. Repeat it when the machine has changed.
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
        title=f"Noise floors of {machine}",
        header=("scenario", "backend", "launch", "metric", f"1 % of {FEWEST} vs {FEWEST} exceed"),
        rows=tuple(rows),
        footnotes=(),
    )
