"""`observatory observe`: measure the newest PyTensor and build its pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from observatory.app.measurement import measure_subjects
from observatory.app.session import Session
from observatory.app.site import build_site
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, print_outcome, say
from observatory.run.local import STATE
from observatory.run.presets import Narrowed
from observatory.store.records.machine import this_machine


def command(
    results: options.Results = Path("results"),
    out: options.Pages = Path("html"),
    machine: options.Machine = None,
    resume: Annotated[bool, options.flag("--resume", "Continue the last run.")] = False,
    state: options.State = STATE,
) -> None:
    """Measure the newest PyTensor, print its table and build the pages.

    The command makes an environment with the newest Python that PyTensor supports. It takes one
    timing and one counting sample of each cell of the quick preset.
    """  # fmt: skip
    console = Console()
    session = Session(
        "quick", results, state, this_machine(machine), resume=resume,
        progress=TerminalProgress(console),
    )  # fmt: skip
    newest, choice = session.subjects.newest()
    if choice.note is not None:
        session.say(choice.note, "warning")
    measurement = measure_subjects(session, [newest], Narrowed())
    print_outcome(console, measurement)  # before the pages, which take longer to build
    session.say(f"building the pages in {out}")
    page, _ = build_site([results], out, machine=measurement.machine, progress=session.progress)
    say(f"The page: {page}")
    if measurement.exit_code:
        raise typer.Exit(measurement.exit_code)
