"""`observatory run` and `observatory observe`: the commands that measure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.catalogue import MODELS
from observatory.cli import options
from observatory.cli.exit_codes import Exit
from observatory.cli.measuring import Session, Tally, measure
from observatory.cli.problems import report_problems
from observatory.cli.reading import read
from observatory.cli.site import build_site
from observatory.cli.tables import render
from observatory.decide.table import subject_tables
from observatory.record.journal import new_run
from observatory.record.machine import this_machine
from observatory.record.subject import Subject
from observatory.run.commits import commits_between
from observatory.run.environments import EnvironmentMakingError
from observatory.run.here import STATE, environment_of, subjects_here
from observatory.run.presets import PRESETS, Narrowed, presets_with, tasks_of
from observatory.run.sources import SubjectError
from observatory.run.subjects import Subjects

app = typer.Typer()

_TIMEOUT = 600.0

Machine = Annotated[
    str | None, typer.Option(help="Name of this machine in the results; default: its host name.")
]
State = Annotated[Path, typer.Option(help="Where environments and filled caches are kept.")]
Timeout = Annotated[float, typer.Option(help="Seconds for one measured process.", min=1)]


@app.command()
def run(
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
    model: Annotated[
        list[str] | None, typer.Option(help=f"Repeatable: {', '.join(MODELS)}. Default: radon.")
    ] = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    measure_: options.Measures = None,
    rounds: Annotated[
        int | None, typer.Option(help="Timed samples of each cell that the preset times.", min=1)
    ] = None,
    results: options.Results = Path("results"),
    machine: Machine = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last run of each subject and preset.")
    ] = False,
    radon_data: Annotated[
        Path | None, typer.Option(help="Real data: a CSV with county, floor, log_radon.")
    ] = None,
    timeout: Timeout = _TIMEOUT,
    state: State = STATE,
) -> None:
    """Measure subjects and record every sample under results/.

    Each subject gets an environment of its own; each sample a process and caches of its own. What
    is measured is on disk at once: interrupt it at will and --resume.
    """  # fmt: skip
    console = Console()
    subjects = subjects_here(state)
    texts = [*(subject or ()), *((releases or "").split(",") if releases else ())]
    if (repo is None) != (commits is None):
        raise SubjectError("--repo and --commits go together: --repo CLONE --commits A..B")
    if repo is not None and commits is not None:
        texts += commits_between(repo, commits)
    chosen = list(subjects.parse_all(texts or ["newest"], with_ or (), python))
    if quick and preset not in (None, "quick"):
        raise SubjectError(f"--quick and --preset {preset} contradict each other; give one")
    name = "quick" if quick else preset or ("history" if releases or commits else "full")
    if radon_data is not None and results == Path("results"):
        raise SubjectError(
            "other data make other series: give --radon-data a results directory of its own with "
            "--results DIR"
        )
    narrowed = Narrowed(model, scenario, backend, launch, measure_, rounds)
    session = Session(
        results=results, state=state, machine=this_machine(machine), console=console,
        timeout=timeout, run=new_run(name), data=radon_data, resume=resume,
        keep_caches=measure_ is not None,
    )  # fmt: skip
    tally = _measure_all(session, subjects, chosen, name, narrowed)
    _finish(session, [one.label for one in chosen], tally)


@app.command()
def observe(
    results: options.Results = Path("results"),
    out: Annotated[Path, typer.Option(help="Directory of the page.")] = Path("html"),
    machine: Machine = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the last run.")] = False,
    state: State = STATE,
) -> None:
    """Measure the newest PyTensor (quick matrix), show the table, build the page.

    Finds the newest interpreter that PyTensor supports, makes an environment, takes one timed and
    one counting sample of each cell, and ends with the location of the page.
    """
    console = Console()
    subjects = subjects_here(state)
    newest, choice = subjects.newest()
    if choice.note is not None:
        console.print(choice.note, style="yellow", markup=False)
    session = Session(
        results=results, state=state, machine=this_machine(machine), console=console,
        timeout=_TIMEOUT, run=new_run("quick"), resume=resume,
    )  # fmt: skip
    tally = _measure_all(session, subjects, [newest], "quick", Narrowed())
    page = build_site(results, out, session.machine.machine)
    _finish(session, [newest.label], tally, page)


def _measure_all(
    session: Session,
    subjects: Subjects,
    chosen: Sequence[Subject],
    preset: str,
    narrowed: Narrowed,
) -> Tally:
    if preset not in PRESETS:
        raise SubjectError(f"there is no preset {preset!r}; choose from {', '.join(PRESETS)}")
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    tasks = tasks_of(PRESETS[preset](), narrowed)
    if not tasks:
        others = ", ".join(presets_with(narrowed))
        raise SubjectError(
            narrowed.none_left(f"the preset {preset}")
            + (f"; presets that have some: {others}" if others else "")
        )
    total = Tally()
    for subject in chosen:
        session.console.print(
            f"{subject.label}: Python {subject.python}, {len(tasks)} samples", markup=False
        )
        try:
            environment = environment_of(subject, subjects, session.state)
        except EnvironmentMakingError as error:
            # One commit that does not build must not hide those after it.
            session.console.print(f"{error}", style="red", markup=False, soft_wrap=True)
            total.without_environment += 1
            continue
        total += measure(session, subject, environment, tasks)
    return total


def _finish(
    session: Session, labels: Sequence[str], tally: Tally, page: Path | None = None
) -> None:
    """The table, what went wrong, where things are; then the exit status."""
    reading = read(session.results)
    ours = reading.frame[reading.frame["machine"] == session.machine.machine]
    shown = [label for label in labels if label in set(ours["subject"])]
    for label in shown if len(shown) <= 2 else ():
        for table in subject_tables(ours, label, reading.notes):
            session.console.print(render(table))
    session.console.print(tally.sentence(), markup=False, highlight=False)
    print(f"Results: {session.results.resolve()}")
    if page is not None:
        print(f"The page: {page}")
    report_problems(Console(stderr=True), reading.problems, strict=False)
    # Wrong numbers outrank everything.
    if tally.wrong:
        raise typer.Exit(Exit.WRONG_RESULTS)
    if tally.failed:
        raise typer.Exit(Exit.SAMPLE_FAILED)
    if tally.without_environment:
        raise typer.Exit(Exit.ENVIRONMENT)
