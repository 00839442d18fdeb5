"""`observatory import`: results of other tools, beside those of asv."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from observatory.cli import options
from observatory.cli.problems import report_problems
from observatory.errors import Exit
from observatory.store.asv.imported import Done, Options, import_file


def command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE.json...", help="What `pytest --benchmark-json` saved."),
    ],
    results: options.Results = Path("results"),
    machine: Annotated[
        str | None, typer.Option(help="Name of the machine that measured. Default: its host name.")
    ] = None,
    commit: Annotated[
        str | None, typer.Option(help="Hash of what was measured. Default: what the file says.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Keeps this run beside others of the same commit and machine."),
    ] = None,
    extra: Annotated[
        list[str] | None,
        typer.Option(help="A number of extra_info to import as a benchmark; repeatable."),
    ] = None,
    strict: options.Strict = False,
) -> None:
    """Import files of pytest-benchmark as an asv result file, so that asv and this tool read them.

    Importing a file twice changes nothing.
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
            "They were measured with changes that are in no commit, and are filed under the commit "
            "below them.",
            style="yellow", markup=False,
        )  # fmt: skip
    if saved.left_out:
        left = sorted(map(repr, saved.left_out))
        more = f" and {len(left) - 10} more" if len(left) > 10 else ""
        console.print(
            f"Not imported of extra_info: {', '.join(left[:10])}{more}; --extra NAME does it",
            markup=False,
        )
