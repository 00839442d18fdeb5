"""`observatory tomorrow`: try the numba that is announced before it is released."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from observatory.cli import nights, options
from observatory.cli.output import Console
from observatory.run.local import STATE, local_subjects
from observatory.run.nightly import Nightly, command_of, one_at_a_time
from observatory.run.tomorrow import steps_of, tomorrow_of
from observatory.store.base.files import check_writable


def command(
    subject: Annotated[
        str, typer.Argument(help="The subject: newest, 3.3.7, a wheel or a commit.")
    ] = "newest",
    census_budget: Annotated[
        str, typer.Option(metavar="TIME", help="Longest time for the census: 90s, 10m, 1h.")
    ] = "20m",
    with_: options.With = None,
    python: options.Python = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    fresh: Annotated[
        bool, options.flag("--fresh", "Start again instead of continuing what was interrupted.")
    ] = False,
    state: options.State = STATE,
) -> None:
    """Try PyTensor with the pre-releases of numba and llvmlite, if there are any.

    The command runs the contracts, the canary, the quick preset and the census with the
    pre-release, and compares the results with those of the same PyTensor and today's packages in
    RESULTS. If RESULTS has none, it first measures the quick preset with today's packages. If no
    pre-release is newer than the last release, the command says so and does nothing.
    """  # fmt: skip
    options.seconds(census_budget)
    check_writable(results, "--results")
    console = Console(highlight=False, soft_wrap=True)
    announce = partial(console.print, markup=False, style="bold")
    found = tomorrow_of(local_subjects(state), subject, with_ or (), python)
    if found is None:
        announce("The index has no pre-release of numba that is newer than its last release.")
        return
    announce(f"{found.today} with {found.announced}")
    settings = ["--python", python] if python else []
    settings += [] if state == STATE else ["--state", str(state)]
    planned = list(steps_of(found, results, census_budget, settings, machine))
    told = {"subject": found.text, "results": results, "machine": machine, "python": python,
            "state": state, "census_budget": census_budget}  # fmt: skip
    asked = [f"{name}={value}" for name, value in told.items()]
    directory = state / "tomorrow"
    with one_at_a_time(directory, announce) as lock:
        night = Nightly(directory, partial(command_of, lock=lock), announce).night(
            asked, results, planned, fresh
        )
    console.print(nights.table(night, found.label))
    if status := nights.status_of(night):
        raise typer.Exit(status)
