"""`observatory observe`: from nothing to the page of the newest PyTensor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from observatory.app.measurement import TIMEOUT, measure_subjects
from observatory.app.session import Session
from observatory.app.site import build_site
from observatory.cli import options
from observatory.cli.measured import finish
from observatory.cli.progress import TerminalProgress
from observatory.run.local import STATE, local_subjects
from observatory.run.presets import Narrowed
from observatory.store.journal.models import new_run
from observatory.store.records.machine import this_machine


def command(
    results: options.Results = Path("results"),
    out: Annotated[Path, typer.Option(help="Directory of the pages.")] = Path("html"),
    machine: options.Machine = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the last run.")] = False,
    state: options.State = STATE,
) -> None:
    """Measure the newest PyTensor, print its table and build the pages.

    The command makes an environment with the newest Python that PyTensor supports, and takes one
    timing and one counting sample of each cell of the quick preset.
    """  # fmt: skip
    console = Console()
    subjects = local_subjects(state)
    newest, choice = subjects.newest()
    session = Session(
        results=results, state=state, machine=this_machine(machine), timeout=TIMEOUT,
        run=new_run("quick"), resume=resume, progress=TerminalProgress(console),
    )  # fmt: skip
    if choice.note is not None:
        session.say(choice.note, "warning")
    measurement = measure_subjects(session, subjects, [newest], "quick", Narrowed())
    page, _ = build_site([results], out, machine=measurement.machine)
    finish(console, measurement, page)
