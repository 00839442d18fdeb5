"""What could not be read, named on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from observatory.analyze.series_keys import SelectionError
from observatory.app.progress import skipped
from observatory.errors import Exit
from observatory.store.base.problems import Problem

if TYPE_CHECKING:
    from observatory.app.results import Reading


def report_problems(problems: Sequence[Problem], strict: bool) -> None:
    """Name what was broken on stderr; with ``strict``, end with the status for it."""
    console = Console(stderr=True)
    for line in skipped(problems):
        # Not wrapped: a path that is cut in two cannot be copied.
        console.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)
    if problems and strict:
        raise typer.Exit(Exit.UNREADABLE)


@contextmanager
def naming_problems(reading: Reading, strict: bool) -> Iterator[None]:
    """Name on stderr what was broken once the block is done; see `report_problems`.

    They are named too where the block finds nothing to show. They are the reason where nothing at
    all could be read.
    """
    try:
        yield
    except SelectionError:
        report_problems(reading.problems, strict or reading.frame.empty)
        raise
    report_problems(reading.problems, strict)
