"""`observatory torture`: inject faults into PyTensor's caches."""

from __future__ import annotations

import json as jsonlib
import math
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.torture import Tortures
from observatory.benchmarks.catalogue import no_such
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, name_broken, say, show
from observatory.errors import SelectionError
from observatory.run.local import STATE, local_subjects
from observatory.store.base.files import check_writable
from observatory.store.records.machine import this_machine
from observatory.text.torture import CACHES, moved_sentence, torture_table


def command(
    subject: Annotated[
        list[str],
        typer.Argument(help="Subjects: newest, 3.3.8, 3.0.7..3.3.8, a wheel or a commit."),
    ],
    fault: Annotated[
        list[str] | None,
        typer.Option(
            help="Try only this fault, e.g. index_empty, and record nothing; repeatable. The error "
            "for an unknown name lists all of them."
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Largest number of places at which each fault is tried. Default: 64, which is "
            "enough for each change that storing an entry makes; a file has at most 24.",
        ),
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(
            metavar="numba|c",
            help="Only this cache; the record of the other one stays.",
        ),
    ] = None,
    new: Annotated[
        bool, options.flag("--new", "Leave out a subject of which RESULTS has a record.")
    ] = False,
    stored: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="With --new: further results; subjects recorded in them are left out, too.",
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Longest time: 90s, 10m, 1h; the next run tries the faults that are left, and "
            "finishes those that were in progress. Default: no limit.",
        ),
    ] = "",
    with_: options.With = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    python: options.Python = None,
    json: options.Json = False,
    state: options.State = STATE,
) -> None:
    """Damage PyTensor's disk caches on purpose, and show what a user gets.

    The command tries about a hundred faults, such as truncated files, full disks, killed processes
    and several processes at once. It stores the outcome in RESULTS/torture and compares it with
    the release before, if that is stored there. It takes about a quarter of an hour on two idle
    cores. If it is interrupted, the same command goes on with the faults that are left.
    """  # fmt: skip
    if cache is not None and cache not in CACHES:
        raise SelectionError(no_such("cache", cache, CACHES))
    name_broken(results)
    check_writable(results, "--results")
    subjects = local_subjects(state)
    chosen = subjects.parse_all(subject, with_ or (), python)
    progress = TerminalProgress(Console(stderr=True))
    tried = Tortures(
        subjects=subjects,
        state=state,
        results=results,
        machine=this_machine(machine).machine,
        only=fault or (),
        steps=steps,
        cache=cache,
        new=new,
        stored=stored,
        budget=options.seconds(budget) if budget else math.inf,
        progress=progress,
    )
    tried.try_all(chosen)
    if json:
        records = [one.model_dump(mode="json", by_alias=True) for one in tried.records]
        say(jsonlib.dumps(records))
    elif tried.records:
        out = Console(highlight=False)
        show(out, torture_table(tried.records))
        for before, worse in tried.worse:
            label = before.tried.subject.label if before.tried else "the one before"
            for one in worse:
                text = f"worse than {label}: {moved_sentence(one)}"
                out.print(text, style="bold red", markup=False, soft_wrap=True)
    if tried.exit_code:
        raise typer.Exit(tried.exit_code)
