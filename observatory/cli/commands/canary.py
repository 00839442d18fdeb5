"""`observatory canary`: check that a shared cache mixes up no results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from observatory.app.cluster import on_cluster
from observatory.app.measurement import canary
from observatory.app.session import TIMEOUT, Session
from observatory.app.settings import crossed, status_of
from observatory.benchmarks.catalogue import MEMBERS, SIBLINGS
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, show
from observatory.errors import SelectionError, severest
from observatory.guard.verdicts import Finding
from observatory.run.local import STATE
from observatory.run.presets import Narrowed
from observatory.store.records import layout
from observatory.store.records.machine import this_machine
from observatory.store.records.settings import Row
from observatory.store.records.subject import Subject
from observatory.text.guard import sentence, sibling_table


def command(
    subject: Annotated[
        list[str] | None,
        typer.Argument(
            help='What to check: newest (default), 3.3.7, "3.3.7 numba==0.66.0", 2.36.0..3.3.7.'
        ),
    ] = None,
    full: Annotated[
        bool, options.flag("--full", "Check every model in every arrangement, which takes long.")
    ] = False,
    settings: Annotated[
        bool,
        options.flag(
            "--settings",
            "Instead, check keys, siblings, an upgrade and a warm build of NUMBA under "
            "combinations of other settings. RESULTS gets the outcome of each, but no samples.",
        ),
    ] = False,
    model: Annotated[options.Words, options.only("--model", MEMBERS, "model")] = None,
    scenario: Annotated[options.Words, options.only("--scenario", SIBLINGS, "scenario")] = None,
    launch: options.Launches = None,
    with_: options.With = None,
    python: options.Python = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
    cluster: options.Cluster = None,
) -> None:
    """Check whether processes that share a cache return each other's results.

    Sibling processes compile different functions of one name into one cache. A fresh process then
    loads all of them, and every value is compared with its reference. Samples are stored in
    RESULTS.
    """  # fmt: skip
    chosen = {"--full": full, "--model": model, "--scenario": scenario, "--launch": launch,
              "--cluster": cluster}  # fmt: skip
    ignored = [name for name, value in chosen.items() if value]
    if settings and ignored:
        raise SelectionError(
            f"--settings checks the same cells always, on this machine; drop {', '.join(ignored)}"
        )
    console = Console()
    session = Session(
        "canary-full" if full or model else "canary", results, state, this_machine(machine),
        timeout, progress=TerminalProgress(console),
    )  # fmt: skip

    def judged(label: str, findings: Sequence[Finding]) -> None:
        show(console, sibling_table(label, findings))
        console.print(sentence(label, findings), markup=False, highlight=False)

    subjects = session.subjects.parse_all(subject or ["newest"], with_ or (), python)
    if settings:
        if status := _crossed(session, subjects, console):
            raise typer.Exit(status)
        return
    narrowed = Narrowed(model, scenario, None, launch)
    with on_cluster(session, cluster) as own:
        status = canary(own, subjects, narrowed, judged)
    if status:
        raise typer.Exit(status)


def _crossed(session: Session, subjects: Sequence[Subject], console: Console) -> int:
    """Print what each subject gives under each row of settings; return the worst exit status."""
    statuses = []
    for one in subjects:
        usual: Row | None = None
        for row in crossed(session, one):
            told = "; ".join(row.beyond(usual)) or "right"
            console.print(f"{one.label} with {row.name}: {told}", markup=False, highlight=False)
            statuses.append(status_of(row, usual))
            usual = usual or row
    console.print(f"Results: {session.results / layout.SETTINGS}", markup=False, highlight=False)
    return severest(statuses)
