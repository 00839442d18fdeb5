"""`observatory run`: measure subjects."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from observatory.app.measurement import TIMEOUT, measure
from observatory.cli import options
from observatory.cli.measured import finish
from observatory.cli.progress import TerminalProgress
from observatory.run.commits import commits_between
from observatory.run.here import STATE
from observatory.run.presets import PRESETS
from observatory.run.sources import SubjectError


def command(
    subject: Annotated[
        list[str] | None,
        typer.Option(
            help='What to measure; repeatable: 3.3.7, newest, "3.3.7 numba==0.66.0", a '
            'wheel, "pytensor @ git+file:///clone@sha". Default: newest.'
        ),
    ] = None,
    releases: Annotated[
        str | None, typer.Option(help="A range of releases, 2.35.1..3.3.7, or a list with commas.")
    ] = None,
    repo: Annotated[Path | None, typer.Option(help="A clone of PyTensor, for --commits.")] = None,
    commits: Annotated[
        str | None, typer.Option(help="A range A..B of its commits, built from source.")
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            help="Another requirement in the environment, e.g. numba==0.66.0, "
            "pymc or a wheel; repeatable.",
        ),
    ] = None,
    python: Annotated[
        str | None, typer.Option(help="Python of the environment, e.g. 3.12. Default: the newest.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help=f"How much of the matrix: {', '.join(PRESETS)}. "
            "Default: full; history for --releases and --commits."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Short for --preset quick.")] = False,
    model: options.Models = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    measure_: options.Measures = None,
    rounds: Annotated[
        int | None, typer.Option(help="Timed samples of each cell that the preset times.", min=1)
    ] = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last run of each subject and preset.")
    ] = False,
    radon_data: Annotated[
        Path | None, typer.Option(help="Real data: a CSV with county, floor, log_radon.")
    ] = None,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
) -> None:
    """Measure subjects and record every sample under results/.

    Each subject gets an environment of its own; each sample a process and caches of its own. What
    is measured is on disk at once: interrupt it at will and --resume.
    """  # fmt: skip
    texts = [*(subject or ()), *((releases or "").split(",") if releases else ())]
    if (repo is None) != (commits is None):
        raise SubjectError("--repo and --commits go together: --repo CLONE --commits A..B")
    if repo is not None and commits is not None:
        texts += commits_between(repo, commits)
    if quick and preset not in (None, "quick"):
        raise SubjectError(f"--quick and --preset {preset} contradict each other; give one")
    name = "quick" if quick else preset or ("history" if releases or commits else "full")
    if radon_data is not None and results == Path("results"):
        raise SubjectError(
            "other data make other series: give --radon-data a results directory of its own with "
            "--results DIR"
        )
    console = Console()
    finish(console, measure(
        texts or ["newest"], results=results, preset=name, models=model, scenarios=scenario,
        backends=backend, launches=launch, passes=measure_, rounds=rounds,
        requirements=with_ or (), python=python, machine=machine, resume=resume, data=radon_data,
        timeout=timeout, state=state, progress=TerminalProgress(console),
    ))  # fmt: skip
