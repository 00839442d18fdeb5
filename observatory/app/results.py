"""Results as every reading command wants them: the frame, the notes, and what was broken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from rich.console import Console

from observatory.cli.problems import report_problems
from observatory.decide.frame import frame
from observatory.decide.places import SelectionError
from observatory.record.cache import directory_for
from observatory.record.latest import Note
from observatory.record.problems import Problem
from observatory.record.read import read_results


@dataclass(frozen=True)
class Reading:
    """Everything that was read from a results directory."""

    frame: pd.DataFrame
    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]


def read(directory: Path) -> Reading:
    """Read a results directory. Raises RecordError where there is none."""
    results = read_results(directory, directory_for(directory))
    journals = results.journals.values()
    notes = [note for journal in journals for note in journal.notes]
    return Reading(frame(results), tuple(notes), results.problems)


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
