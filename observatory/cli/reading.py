"""Results as every reading command wants them: the frame, the notes, and what was broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd
import typer
from rich.console import Console

from observatory.cli.exit_codes import Exit
from observatory.decide.frame import SelectionError, frame
from observatory.record.cache import directory_for
from observatory.record.latest import Note
from observatory.record.problems import Problem
from observatory.record.read import read_results

_SHOWN_PROBLEMS = 10


@dataclass(frozen=True)
class Reading:
    """Everything that was read from a results directory."""

    frame: pd.DataFrame
    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]
    measured_at: Mapping[tuple[str, str], datetime]
    """By subject and machine, when its newest sample was taken; those with journals only."""


def read(directory: Path) -> Reading:
    """Read a results directory. Raises RecordError where there is none."""
    results = read_results(directory, directory_for(directory))
    journals = results.journals.values()
    notes = [note for journal in journals for note in journal.notes]
    measured_at: dict[tuple[str, str], datetime] = {}
    for journal in journals:
        if journal.header is not None and journal.measured_at is not None:
            place = (journal.header.subject.label, journal.header.machine.machine)
            # One subject may have several journals: one for each Python.
            measured_at[place] = max(
                journal.measured_at, measured_at.get(place, journal.measured_at)
            )
    return Reading(frame(results), tuple(notes), results.problems, measured_at)


@contextmanager
def naming_problems(problems: Sequence[Problem], strict: bool) -> Iterator[None]:
    """Name on stderr what was broken once the block is done; see `report_problems`.

    They are named too where the block finds nothing to show: they may be why.
    """
    errors = Console(stderr=True)
    try:
        yield
    except SelectionError:
        report_problems(errors, problems, strict)
        raise
    report_problems(errors, problems, strict)


def report_problems(console: Console, problems: Sequence[Problem], strict: bool) -> None:
    """Name what was broken on stderr; with `strict`, end with the status for it."""
    for problem in problems[:_SHOWN_PROBLEMS]:
        console.print(f"skipped: {problem}", style="yellow", markup=False, highlight=False)
    if len(problems) > _SHOWN_PROBLEMS:
        rest = len(problems) - _SHOWN_PROBLEMS
        console.print(f"skipped: and {rest} more", style="yellow", markup=False)
    if problems and strict:
        raise typer.Exit(Exit.UNREADABLE)
