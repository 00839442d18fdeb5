"""`observatory profile`: where the work of a build went, and what another subject does more."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from observatory.app.profiles import FoundProfile
from observatory.app.profiles import profile as profile_of
from observatory.cli import options
from observatory.cli.output import Console, naming_problems, show
from observatory.errors import SelectionError
from observatory.store.base.files import write_atomic
from observatory.store.base.problems import Problem

Form = Literal["text", "html", "collapsed", "speedscope"]
Unit = Literal["calls", "seconds"]


def command(
    subject: Annotated[
        str,
        typer.Argument(help="A subject in the results (3.3.7), or saved samples (DIR, DIR:LABEL)."),
    ],
    head: Annotated[
        str | None, typer.Argument(help="A second subject, which is compared with SUBJECT.")
    ] = None,
    results: options.Results = Path("results"),
    form: Annotated[
        Form,
        typer.Option(
            metavar="text|html|collapsed|speedscope",
            help="text: tables. html: a flame graph, one file. collapsed: for flamegraph.pl and "
            "inferno. speedscope: JSON for speedscope.",
        ),
    ] = "text",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="File to write. Default: standard output."
        ),
    ] = None,
    unit: Annotated[
        Unit | None,
        typer.Option(
            metavar="calls|seconds",
            help="For collapsed and speedscope: calls by function, or seconds by phase. "
            "Default: calls, if they are recorded.",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Only cells of this model.")] = None,
    scenario: Annotated[str | None, typer.Option(help="Only cells of this scenario.")] = None,
    backend: Annotated[str | None, typer.Option(help="Only cells of this backend.")] = None,
    launch: Annotated[
        str | None, typer.Option(metavar="METHOD", help="Only cells of this start method.")
    ] = None,
    machine: Annotated[
        str | None, typer.Option(metavar="NAME", help="The machine that measured, if several did.")
    ] = None,
    strict: options.Strict = False,
) -> None:
    """Show where a build spends its work, or where HEAD works more or less than SUBJECT.

    The tracing pass records calls, the timing pass seconds. If the options select several cells,
    the command shows the one that changed most; for a single subject, the first.
    """  # fmt: skip
    problems: list[Problem] = []
    with naming_problems(problems, strict):
        found = profile_of(
            subject, head, results=results, model=model, scenario=scenario, backend=backend,
            launch=launch, machine=machine, problems=problems,
        )  # fmt: skip
        _give(found, form, out, unit)


def _give(found: FoundProfile, form: Form, out: Path | None, unit: Unit | None) -> None:
    said = Console(stderr=True, highlight=False, soft_wrap=True)
    others = f" Others with a profile: {', '.join(map(str, found.others))}." if found.others else ""
    said.print(f"The cell: {found.cell}.{others}", markup=False)
    if form == "text" and out is None:
        _print(found, Console())
    else:
        _write(_content(found, form, unit), out)


def _print(found: FoundProfile, console: Console) -> None:
    if found.summary:
        console.print(found.summary, markup=False, highlight=False, soft_wrap=True)
    for table in found.tables():
        show(console, table)


def _content(found: FoundProfile, form: Form, unit: Unit | None) -> bytes:
    if form == "html":
        return found.html()
    if form == "text":
        written = io.StringIO()
        _print(found, Console(width=100, file=written, force_terminal=False, color_system=None))
        return written.getvalue().encode()
    if unit not in (None, *found.units):
        raise SelectionError(
            f"{found.cell} has no profile in {unit}; there is one in {' and '.join(found.units)}"
        )
    return found.exported(form, unit or found.units[0]).encode()


def _write(content: bytes, out: Path | None) -> None:
    if out is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        write_atomic(out, content)
    except OSError as error:
        raise SelectionError(f"--out {out} cannot be written: {error.strerror}") from error
