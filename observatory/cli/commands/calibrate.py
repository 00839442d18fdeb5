"""`observatory calibrate`: measure how much times vary by chance on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from observatory.analyze.chance import FEWEST
from observatory.analyze.comparison.rules import COUNTED, JUDGED
from observatory.app.calibrating import calibrate, calibrate_saved
from observatory.app.session import TIMEOUT, Session
from observatory.benchmarks.catalogue import MEASURES
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, grid, say
from observatory.run.local import STATE
from observatory.run.presets import Narrowed
from observatory.store.base.files import check_writable
from observatory.store.base.problems import RecordError
from observatory.store.reading.saved import INTERLEAVED
from observatory.store.records import calibration
from observatory.store.records.calibration import Calibration
from observatory.store.records.machine import this_machine


def command(
    subject: Annotated[str, typer.Option(help="The subject to measure.")] = "newest",
    samples: Annotated[
        int,
        typer.Option(metavar="N", help="Number of timing samples for each cell.", min=2 * FEWEST),
    ] = 4 * FEWEST,
    saved: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Read the samples of this directory; measure nothing."),
    ] = None,
    work: Annotated[
        bool, typer.Option(help="Count instructions too, which takes half an hour more.")
    ] = False,
    python: options.Python = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
) -> None:
    """Measure how much times and counts of work vary by chance on this machine.

    The command measures one subject against itself in about fifteen minutes. It writes the noise
    floor of each cell, below which `observatory compare` reports no change on this machine, to
    RESULTS/calibrations/. Counts of instructions need --work. Floors that it does not measure again
    stay, if they are of the same subject and CPU. Repeat it when the machine has changed.
    """  # fmt: skip
    check_writable(results, "--results")
    measures = tuple(MEASURES) if work else None
    narrowed = Narrowed(None, scenario, backend, launch, measures)
    if saved is not None:
        found = calibrate_saved(saved, narrowed)
    else:
        session = Session(
            INTERLEAVED, results, state, this_machine(machine), timeout,
            progress=TerminalProgress(Console(stderr=True)),
        )  # fmt: skip
        found = calibrate(session, subject, samples, narrowed, python)
    found = _with_earlier(results, found)
    path = calibration.save(results, found)
    header = (
        "scenario", "backend", "launch", "metric",
        f"1 % of {FEWEST} vs {FEWEST} exceed (counts: {COUNTED} vs {COUNTED})",
    )  # fmt: skip
    rows = [
        (floor.cell.scenario, floor.cell.backend, floor.cell.launch, floor.metric,
         f"{floor.change:.2%}")
        for floor in found.floors
        if floor.metric in JUDGED
    ]  # fmt: skip
    title = f"Noise floors of {found.machine.machine}"
    Console().print(grid(header, rows, title=title, right=header[-1:], wrapped=header[-1:]))
    say(f"Calibration: {path}")


def _with_earlier(results: Path, found: Calibration) -> Calibration:
    """The same with the floors of the machine's earlier calibration; says which it cannot keep."""
    try:
        older = calibration.load(results, found.machine.machine)
    except RecordError as error:  # it is to be replaced
        say(f"{error}")
        return found
    if older is not None and not found.is_like(older):
        say(
            f"The calibration of {older.taken_at:%Y-%m-%d} ({older.subject.label} on "
            f"{older.machine.cpu}) is replaced, because subject, environment or CPU differ."
        )
    return found if older is None else found.with_floors_of(older)
