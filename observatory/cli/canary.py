"""`observatory canary`: whether processes that share a cache return each other's numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.catalogue import MEMBERS, SIBLINGS
from observatory.cli import options
from observatory.cli.exit_codes import Exit
from observatory.cli.measuring import Session, measure
from observatory.cli.run import Machine, State, Timeout
from observatory.cli.tables import render
from observatory.decide import canary as deciding
from observatory.decide.canary import Fate, Finding
from observatory.record.journal import new_run
from observatory.record.machine import this_machine
from observatory.record.sample import Sample
from observatory.run.environments import EnvironmentMakingError
from observatory.run.here import STATE, environment_of, subjects_here
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.sources import SubjectError

app = typer.Typer()

_STATUS: dict[Fate, Exit] = {
    "wrong": Exit.WRONG_RESULTS,
    "crashed": Exit.SAMPLE_FAILED,
    "shared symbols": Exit.SYMBOLS,
    "not judged": Exit.UNDECIDED,
    "right": Exit.OK,
}


@app.command("canary")
def canary_command(
    subject: Annotated[
        list[str] | None,
        typer.Argument(help='As for `run`: 3.3.7, "3.3.7 numba==0.66.0", 2.36.0..3.3.7.'),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Every model in every arrangement; takes much longer.")
    ] = False,
    model: Annotated[
        list[str] | None, typer.Option(help=f"Only this one; repeatable: {', '.join(MEMBERS)}.")
    ] = None,
    scenario: Annotated[
        list[str] | None, typer.Option(help=f"Only this one; repeatable: {', '.join(SIBLINGS)}.")
    ] = None,
    launch: options.Launches = None,
    with_: Annotated[
        list[str] | None, typer.Option("--with", help="Another requirement; repeatable.")
    ] = None,
    python: Annotated[str | None, typer.Option(help="Python of the environment.")] = None,
    results: options.Results = Path("results"),
    machine: Machine = None,
    timeout: Timeout = 600.0,
    state: State = STATE,
) -> None:
    """Find out whether processes that share a cache return each other's numbers.

    Siblings (forked, from a fork server, spawned; in turn, at once, nested, ...) compile different
    functions of one name into one cache; a fresh process reads all of them, and every value is
    compared with NumPy's. Every sample is recorded under RESULTS.
    """  # fmt: skip
    console = Console()
    subjects = subjects_here(state)
    chosen = subjects.parse_all(subject or ["newest"], with_ or (), python)
    narrowed = Narrowed(model, scenario, None, launch)
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    preset = "canary-full" if full or model else "canary"
    tasks = tasks_of(PRESETS[preset](), narrowed)
    if not tasks:
        raise SubjectError(narrowed.none_left(f"the preset {preset}"))
    session = Session(results, state, this_machine(machine), console, timeout, new_run(preset))
    every: list[Finding] = []
    for one in chosen:
        findings: list[Finding] = []

        def seen(sample: Sample, findings: list[Finding] = findings) -> None:
            findings.append(deciding.judge(sample))

        try:
            environment = environment_of(one, subjects, state)
        except EnvironmentMakingError as error:
            # Its fate is "not judged"; those after it can be.
            console.print(f"{error}", style="red", markup=False, soft_wrap=True)
            every += [Finding(task.cell, "not judged", "") for task in tasks]
            continue
        measure(session, one, environment, tasks, seen)
        console.print(render(deciding.table(one.label, findings)))
        console.print(deciding.sentence(one.label, findings), markup=False, highlight=False)
        every += findings
    status = _STATUS[deciding.worst(every)]
    if status is not Exit.OK:
        raise typer.Exit(status)
