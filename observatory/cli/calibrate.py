"""`observatory calibrate`: what chance alone does on this machine."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from observatory.cli import options
from observatory.cli.comparing import (
    Comparer,
    discard,
    progress_console,
    side_of,
)
from observatory.cli.measuring import Session
from observatory.cli.run import Machine, State, Timeout
from observatory.cli.tables import render
from observatory.cli.version import tool_version
from observatory.decide.comparing import Setting
from observatory.decide.evidence import Evidence
from observatory.decide.floors import floors_of
from observatory.decide.noisy import FEWEST
from observatory.decide.table import Table
from observatory.record import calibration
from observatory.record.calibration import Calibration, Floor
from observatory.record.journal import JournalHeader, new_run
from observatory.record.machine import this_machine
from observatory.record.problems import RecordError
from observatory.record.saved import INTERLEAVED, load
from observatory.run.here import STATE, environment_of, subjects_here
from observatory.run.interleave import matrix
from observatory.run.presets import Narrowed
from observatory.run.sources import SubjectError

app = typer.Typer()

_TIMEOUT = 600.0
_FEWEST_SAMPLES = 4 * FEWEST
_SEED = 0


@app.command()
def calibrate(
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
    machine: Machine = None,
    timeout: Timeout = _TIMEOUT,
    state: State = STATE,
) -> None:
    """Measure what chance alone does to times on this machine.

    One subject is measured against itself. The outcome, results/calibrations/<machine>.json, is
    the smallest change that `observatory
    compare` takes seriously on this machine, cell by cell. About ten minutes; do it on the
    machine as it will be when comparing, and again when the machine has changed.
    """  # fmt: skip
    narrowed = Narrowed(None, scenario, backend, launch)
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    if saved is not None:
        pool = load(saved)
        kept = [sample for sample in pool.samples if narrowed.keeps(sample.cell)]
        if not kept:
            raise RecordError(f"{saved} holds no sample to learn from that the options leave")
        taken_at = max(sample.started_at for sample in kept)
        _conclude(results, pool.header, Evidence.of(kept), taken_at)
        return
    cells = matrix(narrowed)
    if not cells.timed:
        raise SubjectError(narrowed.none_left("those whose times are taken"))
    session = Session(
        results=results, state=state, machine=this_machine(machine),
        console=progress_console(), timeout=timeout, run=new_run(INTERLEAVED),
    )  # fmt: skip
    subjects = subjects_here(state)
    chosen = subjects.parse(subject, python=python)
    environment = environment_of(chosen, subjects, state)
    where = state / "calibrations" / session.run
    base, side = side_of(session, chosen, environment, where)
    head, _ = side_of(session, chosen, environment, where)
    base.evidence = head.evidence = together = Evidence()
    setting = Setting(
        base=side, head=side, started_at=datetime.now(UTC), interleaved=True, seed=_SEED,
        observatory=tool_version(), reproduce="",
    )  # fmt: skip
    needed = cells.of_timed()
    try:
        Comparer(session, {"base": base, "head": head}, setting, needed, 0.0).sample(samples // 2)
    finally:
        discard(where)
    header = JournalHeader(subject=chosen, versions=environment.versions, machine=session.machine)
    _conclude(results, header, together, setting.started_at)


def _conclude(results: Path, header: JournalHeader, pool: Evidence, taken_at: datetime) -> None:
    """Store the floors that the samples of one subject show, and print them."""
    found = Calibration(
        machine=header.machine,
        subject=header.subject,
        versions=header.versions,
        taken_at=taken_at,
        floors=list(floors_of(pool, _SEED)),
    )
    path = calibration.save(results, found)
    Console().print(render(_table(found.floors, header.machine.machine)))
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
