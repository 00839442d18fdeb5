"""`observatory upgrade`: check a subject on the cache of another one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from observatory.app.session import TIMEOUT, Session
from observatory.app.upgrade import sides_of, under_the_same_version, upgrade
from observatory.benchmarks.catalogue import backends_of, models_of
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, show
from observatory.errors import Exit
from observatory.guard.verdicts import is_stale, is_wrong
from observatory.run.local import STATE
from observatory.run.upgrade import SCENARIO, cells_of
from observatory.store.records.machine import this_machine
from observatory.text.guard import upgrade_table


def command(
    subject: Annotated[
        list[str],
        typer.Argument(
            help="At least two subjects; each uses the cache of the one before: 3.2.3 3.2.4, "
            '3.2.3..3.3.7, "3.3.7 numba==0.66.0".'
        ),
    ],
    flags: Annotated[
        list[str] | None,
        typer.Option(
            help="PYTENSOR_FLAGS, e.g. floatX=float32. Repeat it for each subject; '' sets none."
        ),
    ] = None,
    cpu: Annotated[
        list[str] | None,
        typer.Option(
            help="The CPU that code is made for, e.g. haswell. Repeat it for each subject; '' is "
            "that of this machine."
        ),
    ] = None,
    model: Annotated[options.Words, options.only("--model", models_of(SCENARIO), "model")] = None,
    backend: Annotated[
        options.Words,
        options.only("--backend", backends_of(SCENARIO), "backend", "Default: NUMBA."),
    ] = None,
    python: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VERSION", help="Python of all environments, or, repeated, of each subject."
        ),
    ] = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
) -> None:
    """Check a subject that uses the cache of another one, as after an upgrade.

    The command compares the results with the reference and with those from an empty cache; a value
    that differs is stale. The first subject then uses the cache again, which shows what it lost.
    A warning names implementations of Ops whose code changed under the same version.
    Each pair is stored in RESULTS/upgrades.
    """  # fmt: skip
    console = Console()
    session = Session(
        SCENARIO, results, state, this_machine(machine), timeout, progress=TerminalProgress(console)
    )
    sides = sides_of(session, subject, flags or [], python or [], cpu or [])
    found = upgrade(session, sides, cells_of(model, backend or ["NUMBA"]))
    show(console, upgrade_table(found, under_the_same_version(session.say, sides)))
    if any(is_stale(one) or is_wrong(one) for one in found):
        raise typer.Exit(Exit.WRONG_RESULTS)
    if any(part.failure for one in found for part in one.parts):
        raise typer.Exit(Exit.SAMPLE_FAILED)
