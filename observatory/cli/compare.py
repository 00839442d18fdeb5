"""`observatory compare`: two subjects side by side, and what that says."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.catalogue import MEASURES, MODELS
from dashboard.comment import comment
from dashboard.terminal import terminal
from observatory.cli import options
from observatory.cli.comparing import (
    Comparer,
    Measured,
    discard,
    progress_console,
    side_of,
)
from observatory.cli.exit_codes import Exit
from observatory.cli.measuring import Session
from observatory.cli.problems import report_problems
from observatory.cli.run import Machine, State, Timeout
from observatory.cli.version import tool_version
from observatory.decide.comparing import Setting, compared, outcome_of
from observatory.decide.evidence import Evidence
from observatory.decide.pairs import setting_of
from observatory.record import calibration
from observatory.record.comparison import Comparison
from observatory.record.files import write_atomic
from observatory.record.journal import new_run
from observatory.record.machine import this_machine
from observatory.record.saved import INTERLEAVED, Saved, load, looks_saved
from observatory.record.subject import Subject
from observatory.run.commits import commits_between
from observatory.run.here import STATE, environment_of, subjects_here
from observatory.run.interleave import SideName, matrix
from observatory.run.presets import Narrowed
from observatory.run.sources import SubjectError

app = typer.Typer()

_TIMEOUT = 600.0
_OUTPUTS = ("--json", "--markdown", "--samples", "--results", "--state")
_NO_TIMES = "times are left out: --measure does not ask for them"
_UNITS = {"s": 1, "m": 60, "h": 3600}


def _seconds(text: str) -> float:
    """``90``, ``90s``, ``10m`` or ``1.5h`` in seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if found is None or float(found[1]) <= 0:
        raise typer.BadParameter(f"{text!r} is no time; say 90s, 10m or 1.5h")
    return float(found[1]) * _UNITS[found[2] or "s"]


@app.command()
def compare(
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
    model: Annotated[
        list[str] | None, typer.Option(help=f"Repeatable: {', '.join(MODELS)}. Default: radon.")
    ] = None,
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
    machine: Machine = None,
    seed: Annotated[int, typer.Option(help="Of the order of samples and of the tests.")] = 0,
    timeout: Timeout = _TIMEOUT,
    state: State = STATE,
) -> None:
    """Say whether HEAD is worse than BASE, by how much and why.

    Both are measured side by side in one run, one value a process. Counters come first: what
    stopped hitting, and for which cause, is said within the first minute or two. Times are taken
    until a test decides every cell or the budget is spent. --results is where the machine's
    calibration is looked for. Every sample is kept, and can be compared again as saved results.
    """  # fmt: skip
    saved = looks_saved(base), looks_saved(head)
    texts = [base, head] if any(saved) else _texts(repo, base, head)
    # What a ref names moves on; the commit that it was does not.
    pinned = {} if repo is None else dict(zip((base, head), map(_commit, texts), strict=True))
    reproduce = shlex.join(["observatory", *repeated(sys.argv[1:], pinned)])
    narrowed = Narrowed(model, scenario, backend, launch, measure)
    if unknown := narrowed.unknown():
        raise SubjectError(unknown)
    if all(saved):
        told = _saved(load(base), load(head), narrowed, results, seed, reproduce)
    elif any(saved):
        raise SubjectError(
            "one side is saved results and the other is not: what is measured now cannot be "
            "judged against times of another run; save both or measure both"
        )
    else:
        told = _measured(
            texts, narrowed, with_ or (), python, _seconds(budget),
            Session(
                results=results, state=state, machine=this_machine(machine),
                console=progress_console(), timeout=timeout, run=new_run(INTERLEAVED),
            ),
            seed, reproduce, samples,
        )  # fmt: skip
    _tell(told, json_, markdown)
    raise typer.Exit(status(told))


def repeated(arguments: Sequence[str], pinned: Mapping[str, str]) -> Iterator[str]:
    """The command line as somebody else can repeat it.

    Without where its outcome goes, which others do not have, and with what ``pinned`` says of an
    argument, which is no option's value, in the place of it.
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


def _measured(
    texts: Sequence[str],
    narrowed: Narrowed,
    extras: Sequence[str],
    python: str | None,
    budget: float,
    session: Session,
    seed: int,
    reproduce: str,
    samples: Path | None,
) -> Comparison:
    cells = matrix(narrowed)
    if not cells.counted:
        raise SubjectError(narrowed.none_left("the comparison"))
    subjects = subjects_here(session.state)
    base, head = _two(subjects.parse_all(texts, extras, python), texts)
    where = samples or session.state / "comparisons" / session.run
    measured = []
    for name, subject in (("base", base), ("head", head)):
        environment = environment_of(subject, subjects, session.state)
        measured.append(side_of(session, subject, environment, where / name))
    (base_side, of_base), (head_side, of_head) = measured
    setting = Setting(
        base=of_base, head=of_head, started_at=datetime.now(UTC), interleaved=True, seed=seed,
        observatory=tool_version(), reproduce=reproduce,
        calibration=calibration.load(session.results, session.machine.machine),
    )  # fmt: skip
    sides: dict[SideName, Measured] = {"base": base_side, "head": head_side}
    left_out = narrowed.measures is not None and "timing" not in narrowed.measures
    warnings = (_NO_TIMES,) if left_out else ()
    comparer = Comparer(session, sides, setting, cells, budget, warnings)
    try:
        told = comparer.run()
    finally:
        discard(where)
    write_atomic(where / "comparison.json", _as_json(told))
    session.console.print(f"Samples: {where}", markup=False, highlight=False, soft_wrap=True)
    return told


def _saved(
    base: Saved, head: Saved, narrowed: Narrowed, results: Path, seed: int, reproduce: str
) -> Comparison:
    report_problems(progress_console(), [*base.problems, *head.problems], strict=False)
    setting = setting_of(
        base, head, calibration.load(results, head.header.machine.machine),
        seed=seed, observatory=tool_version(), reproduce=reproduce,
    )  # fmt: skip
    passes = MEASURES if narrowed.measures is None else ("counting", *narrowed.measures)
    of_base, of_head = (
        Evidence.of(sample for sample in side.samples if sample.measure in passes)
        for side in (base, head)
    )
    # The other cells stay in the evidence: what a warm build misses is told by the cold one.
    cells = [
        cell
        for cell in of_base.cells | of_head.cells
        if narrowed.keeps(cell) and (narrowed.models is None or cell.model in narrowed.models)
    ]
    if not cells:
        raise SubjectError(
            "there is no saved sample to compare; where there are some, --model, --scenario, "
            "--backend and --launch left them out"
        )
    warnings = () if "timing" in passes else (_NO_TIMES,)
    return compared(setting, of_base, of_head, 0.0, cells, warnings=warnings)


def _texts(repo: Path | None, base: str, head: str) -> list[str]:
    if repo is None:
        return [base, head]
    return [commits_between(repo, ref)[0] for ref in (base, head)]


def _commit(text: str) -> str:
    return text.rpartition("@")[2]


def _two(parsed: Sequence[Subject], texts: Sequence[str]) -> tuple[Subject, Subject]:
    if len(parsed) != 2:
        raise SubjectError(f"{' and '.join(texts)} name {len(parsed)} subjects; two are compared")
    return parsed[0], parsed[1]


def _tell(told: Comparison, json_: Path | None, markdown: Path | None) -> None:
    """Write what is wanted to where it is wanted; the terminal's form unless stdout is taken."""
    dash = Path("-")
    for path, content in ((json_, _as_json(told)), (markdown, comment(told).encode())):
        if path == dash:
            print(content.decode(), end="")
        elif path is not None:
            write_atomic(path, content)
    if dash not in (json_, markdown):
        Console().print(terminal(told))


def _as_json(told: Comparison) -> bytes:
    return told.model_dump_json(by_alias=True, indent=1).encode() + b"\n"


_STATUS = {
    "wrong results": Exit.WRONG_RESULTS,
    "worse": Exit.WORSE,
    "undecided": Exit.UNDECIDED,
    "calm": Exit.OK,
}


def status(told: Comparison) -> Exit:
    """The exit status that says how a comparison ended."""
    return _STATUS[outcome_of(told)]
