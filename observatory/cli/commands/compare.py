"""`observatory compare`: two subjects side by side, and what that says."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.catalogue import MEASURES
from observatory.analyze.comparison.comparing import outcome_of
from observatory.app.comparison import as_json
from observatory.app.comparison import compare as compare_subjects
from observatory.app.measurement import TIMEOUT
from observatory.cli import options
from observatory.cli.progress import TerminalProgress
from observatory.errors import Exit
from observatory.run.commits import commits_between
from observatory.run.here import STATE
from observatory.store.base.files import write_atomic
from observatory.store.reading.saved import looks_saved
from observatory.store.records.comparison import Comparison
from observatory.text.comment import comment
from observatory.text.terminal import terminal

_OUTPUTS = ("--json", "--markdown", "--samples", "--results", "--state")
_UNITS = {"s": 1, "m": 60, "h": 3600}


def command(
    base: Annotated[
        str,
        typer.Argument(
            help="What to compare against: a release (3.3.6), a wheel, a git ref with --repo, "
            "or saved results (DIR or DIR:LABEL)."
        ),
    ],
    head: Annotated[str, typer.Argument(help="What to judge; written like BASE.")],
    budget: Annotated[
        str, typer.Option(help="Time for measuring, environments not counted: 90s, 10m, 1h.")
    ] = "10m",
    repo: Annotated[
        Path | None, typer.Option(help="A clone of PyTensor: BASE and HEAD are refs of it.")
    ] = None,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", help="Another requirement in both environments; repeatable."),
    ] = None,
    python: Annotated[
        str | None, typer.Option(help="Python of both. Default: the newest that fits.")
    ] = None,
    model: options.Models = None,
    scenario: options.Scenarios = None,
    backend: options.Backends = None,
    launch: options.Launches = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Only this pass; repeatable: {', '.join(MEASURES)}. Counting is always taken; "
            "with nothing else the verdict is exact and quick, and no time is judged."
        ),
    ] = None,
    json_: Annotated[
        Path | None, typer.Option("--json", help="Write the comparison as JSON; - for stdout.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the pull request's comment; - for stdout.")
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(help="Where every sample is kept. Default: STATE/comparisons/RUN."),
    ] = None,
    results: options.Results = Path("results"),
    machine: options.Machine = None,
    seed: Annotated[int, typer.Option(help="Seed of the order of samples and of the tests.")] = 0,
    timeout: options.Timeout = TIMEOUT,
    state: options.State = STATE,
) -> None:
    """Say whether HEAD is worse than BASE, by how much and why.

    Both are measured side by side in one run, one value a process. Counters come first: what
    stopped hitting, and for which cause, is said within the first minute or two. Times are taken
    until a test decides every cell or the budget is spent. --results is where the machine's
    calibration is looked for. Every sample is kept, and can be compared again as saved results.
    """  # fmt: skip
    seconds = _seconds(budget)
    saved = looks_saved(base) or looks_saved(head)
    texts = [base, head]
    pinned: dict[str, str] = {}
    if repo is not None:
        if not saved:
            texts = [commits_between(repo, ref)[0] for ref in texts]
        # A ref moves on; the commit that it names now does not.
        pinned = {
            ref: text.rpartition("@")[2] for ref, text in zip((base, head), texts, strict=True)
        }
    comparison = compare_subjects(
        *texts, budget=seconds, models=model, scenarios=scenario, backends=backend,
        launches=launch, passes=measure, requirements=with_ or (), python=python, results=results,
        samples=samples, machine=machine, seed=seed, timeout=timeout, state=state,
        reproduce=shlex.join(["observatory", *repeated(sys.argv[1:], pinned)]),
        progress=TerminalProgress(Console(stderr=True)),
    )  # fmt: skip
    _write(comparison, json_, markdown)
    raise typer.Exit(status(comparison))


def repeated(arguments: Sequence[str], pinned: Mapping[str, str]) -> Iterator[str]:
    """The command line as somebody else can repeat it.

    It leaves out where the outcome goes, which others do not have. An argument that ``pinned``
    knows is replaced by what it says, unless it is the value of an option.
    """
    left = iter(arguments)
    is_value = False
    for argument in left:
        name, equals, _ = argument.partition("=")
        opens = argument.startswith("--") and not equals and not is_value
        if name in _OUTPUTS and not is_value:
            if opens:
                next(left, None)
            continue
        yield argument if is_value else pinned.get(argument, argument)
        is_value = opens


_STATUS = {
    "wrong results": Exit.WRONG_RESULTS,
    "worse": Exit.WORSE,
    "undecided": Exit.UNDECIDED,
    "calm": Exit.OK,
}


def status(comparison: Comparison) -> Exit:
    """The exit status that stands for the outcome of a comparison."""
    return _STATUS[outcome_of(comparison)]


def _seconds(text: str) -> float:
    """``90``, ``90s``, ``10m`` or ``1.5h`` in seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if found is None or float(found[1]) <= 0:
        raise typer.BadParameter(f"{text!r} is no time; say 90s, 10m or 1.5h")
    return float(found[1]) * _UNITS[found[2] or "s"]


def _write(comparison: Comparison, json_: Path | None, markdown: Path | None) -> None:
    """Write each form to where it is wanted; draw it on the terminal unless stdout is taken."""
    dash = Path("-")
    forms = ((json_, as_json(comparison)), (markdown, comment(comparison).encode()))
    for path, content in forms:
        if path == dash:
            print(content.decode(), end="")
        elif path is not None:
            write_atomic(path, content)
    if dash not in (json_, markdown):
        Console().print(terminal(comparison))
