"""What could not be read, named on stderr."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from rich.console import Console

from observatory.cli.exit_codes import Exit
from observatory.record.problems import Problem

_SHOWN_PROBLEMS = 10


def report_problems(console: Console, problems: Sequence[Problem], strict: bool) -> None:
    """Name what was broken on stderr; with `strict`, end with the status for it."""
    for problem in problems[:_SHOWN_PROBLEMS]:
        # Not wrapped: a path that is cut in two cannot be copied.
        console.print(
            f"skipped: {problem}", style="yellow", markup=False, highlight=False, soft_wrap=True
        )
    if len(problems) > _SHOWN_PROBLEMS:
        rest = len(problems) - _SHOWN_PROBLEMS
        console.print(f"skipped: and {rest} more", style="yellow", markup=False)
    if problems and strict:
        raise typer.Exit(Exit.UNREADABLE)
