"""`observatory import`: import results of pytest-benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from observatory.cli import options
from observatory.cli.output import report_problems
from observatory.errors import Exit
from observatory.store.asv.imported import Done, Options, import_file


def command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE.json...", help="Files that `pytest --benchmark-json` wrote."),
    ],
    results: options.Results = Path("results"),
    machine: Annotated[
        str | None, typer.Option(help="Name of the machine. Default: the host name in the file.")
    ] = None,
    commit: Annotated[
        str | None, typer.Option(help="Hash of the measured commit. Default: that in the file.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Name that distinguishes runs of the same commit and machine."),
    ] = None,
    extra: Annotated[
        list[str] | None, options.several("Also import this number from extra_info")
    ] = None,
    strict: options.Strict = False,
) -> None:
    """Import files of pytest-benchmark as asv results, which asv and the observatory read.

    Importing a file again changes nothing.
    """  # fmt: skip
    console = Console(highlight=False, soft_wrap=True)
    chosen = Options(machine, commit, label, tuple(extra or ()))
    broken = False
    for file in files:
        done = import_file(file, results, chosen)
        _report(console, done)
        report_problems(done.problems, strict=False)
        broken = broken or bool(done.problems)
    if broken and strict:
        raise typer.Exit(Exit.UNREADABLE)


def _report(console: Console, done: Done) -> None:
    saved = done.saved
    where = f"into {done.path}" if done.benchmarks else "nothing was written"
    console.print(f"{done.benchmarks} benchmarks: {where}", markup=False)
    if saved.dirty:
        console.print(
            "They were measured with uncommitted changes, and are stored under the last commit.",
            style="yellow", markup=False,
        )  # fmt: skip
    if saved.left_out:
        left = sorted(map(repr, saved.left_out))
        more = f" and {len(left) - 10} more" if len(left) > 10 else ""
        console.print(
            f"Not imported from extra_info: {', '.join(left[:10])}{more}. Use --extra NAME.",
            markup=False,
        )
