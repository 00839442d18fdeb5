"""`observatory run`: measure subjects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from observatory.app.measurement import chosen_tasks, measure
from observatory.app.session import TIMEOUT, workers_here
from observatory.benchmarks.plan import Task
from observatory.cli import options
from observatory.cli.output import Console, TerminalProgress, finish, grid
from observatory.run.local import STATE
from observatory.run.presets import PRESETS, Narrowed
from observatory.run.schedule import shares
from observatory.run.sources import SubjectError, commits_between
from observatory.text.words import several


def command(
    subject: Annotated[
        list[str] | None,
        typer.Option(
            help='What to measure: newest (default), 3.3.7, "3.3.7 numba==0.66.0", a wheel or '
            '"pytensor @ git+file:///clone@sha"; repeatable.'
        ),
    ] = None,
    releases: Annotated[
        str | None,
        typer.Option(
            metavar="RANGE",
            help="A range of releases (2.35.1..3.3.7), or a list separated by commas.",
        ),
    ] = None,
    repo: options.Repo = None,
    commits: Annotated[
        str | None,
        typer.Option(metavar="A..B", help="A range A..B of commits in --repo, built from source."),
    ] = None,
    with_: options.With = None,
    python: options.Python = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help=f"Which cells are measured, and how often: {', '.join(PRESETS)}. "
            "Default: full; history for --releases and --commits."
        ),
    ] = None,
    quick: Annotated[bool, options.flag("--quick", "The same as --preset quick.")] = False,
    model: options.Models = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    pass_: options.Passes = None,
    rounds: Annotated[
        int | None, typer.Option(metavar="N", help="Number of timing samples for each cell.", min=1)
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="No sample begins after this time: 90s, 10m, 1h. --resume continues.",
        ),
    ] = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    resume: Annotated[
        bool, options.flag("--resume", "Continue the last run of each subject and preset.")
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N",
            help="Take only the K-th of N parts of the plan, for the jobs of a workflow's matrix; "
            "`publish` adds the parts together.",
        ),
    ] = None,
    stored: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Take only the samples that these results lack for each subject on this "
            "machine, such as those of a part that was lost.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, options.flag("--dry-run", "Only print what it would measure, and how long it takes.")
    ] = False,
    radon_data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A CSV file with the columns county, floor and log_radon."
        ),
    ] = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
    cluster: options.Cluster = None,
) -> None:
    """Measure subjects and record every sample in RESULTS.

    Each subject gets its own environment, and each sample its own process and caches. Every sample
    is stored at once; --resume continues an interrupted run.
    """  # fmt: skip
    texts = [*(subject or ()), *((releases or "").split(",") if releases else ())]
    if (repo is None) != (commits is None):
        raise SubjectError("--repo and --commits go together: --repo CLONE --commits A..B")
    if repo is not None and commits is not None:
        texts += commits_between(repo, commits)
    if quick and preset not in (None, "quick"):
        raise SubjectError(f"--quick contradicts --preset {preset}; give only one of them")
    name = "quick" if quick else preset or ("history" if releases or commits else "full")
    if radon_data is not None and results == Path("results"):
        raise SubjectError(
            "--radon-data changes what the series mean; give another directory with --results"
        )
    if radon_data is not None and cluster and not cluster.startswith("local:"):
        raise SubjectError("--radon-data names a file of this machine: measure without --cluster")
    part = None if shard is None else options.part(shard)
    console = Console()
    if dry_run:
        tasks = chosen_tasks(name, Narrowed(model, scenario, backend, launch, pass_, rounds))
        console.print(plan_table(name, tasks if part is None else part.tasks(tasks)))
        return
    finish(console, measure(
        texts or ["newest"], results=results, preset=name, models=model, scenarios=scenario,
        backends=backend, launches=launch, passes=pass_, rounds=rounds,
        requirements=with_ or (), python=python, machine=machine, resume=resume, data=radon_data,
        budget=options.seconds(budget) if budget else math.inf, timeout=timeout, state=state,
        cluster=cluster, shard=part, stored=stored, progress=TerminalProgress(console),
    ))  # fmt: skip


def plan_table(preset: str, tasks: Sequence[Task]) -> Table:
    """What a preset measures of one subject, and the share of each family of scenarios."""
    parts = shares(tasks, workers_here())
    total = sum(part.seconds for part in parts)
    rows = [
        (part.family, ", ".join(part.models), str(part.samples), _minutes(part.seconds),
         f"{part.seconds / total:.0%}")
        for part in parts
    ]  # fmt: skip
    title = (
        f"{preset}: {several(len(tasks), 'sample')} of each subject, "
        f"about {_minutes(total)} minutes on a quiet machine of two cores"
    )
    header = ("scenarios", "models", "samples", "minutes", "share")
    return grid(header, rows, title=title, right=header[2:], wrapped=("models",))


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f}"
