"""Results as every reading command wants them: the frame, the notes, and what was broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd
import typer
from rich.console import Console

from observatory.cli.exit_codes import Exit
from observatory.decide.frame import frame
from observatory.record.latest import Note, latest
from observatory.record.problems import Problem
from observatory.record.read import read_journals, read_results

_SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class Reading:
    """Everything that was read from a results directory."""

    frame: pd.DataFrame
    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]
    measured_at: datetime | None
    """When the newest sample was taken; None without journals."""


def read(directory: Path) -> Reading:
    """Read a results directory. Raises RecordError where there is none."""
    results = read_results(directory)
    journals = read_journals(directory)
    notes = [note for journal in journals for note in latest(journal.current()).notes]
    problems = [*results.problems, *(p for journal in journals for p in journal.problems)]
    times = [entry.sample.started_at for journal in journals for entry in journal.entries]
    return Reading(
        frame(results), tuple(notes), tuple(dict.fromkeys(problems)), max(times, default=None)
    )


def report_problems(console: Console, problems: Sequence[Problem], strict: bool) -> None:
    """Name what was broken on stderr; with `strict`, end with the status for it."""
    for problem in problems[:_SHOWN_PROBLEMS]:
        console.print(f"skipped: {problem}", style="yellow", markup=False, highlight=False)
    if len(problems) > _SHOWN_PROBLEMS:
        rest = len(problems) - _SHOWN_PROBLEMS
        console.print(f"skipped: and {rest} more", style="yellow", markup=False)
    if problems and strict:
        raise typer.Exit(Exit.UNREADABLE)
