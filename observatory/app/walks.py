"""Read the steps of the path from a results directory."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from observatory.app.where import measured_on
from observatory.errors import SelectionError
from observatory.store.base.problems import Problem
from observatory.store.reading.beside import problems_beside
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import read_results
from observatory.text.path import Walked


def walks_in(
    directory: Path, subjects: Collection[str] = (), problems: list[Problem] | None = None
) -> list[Walked]:
    """The steps of each subject and place, in the order of their dates.

    ``subjects``: their labels; empty: all that have steps. What is unreadable is added to
    ``problems``, also if nothing is left. Raises RecordError if there is no such directory, and
    SelectionError if nothing is left.
    """
    read = read_results(directory, directory_for(directory))
    if problems is not None:
        problems += (*read.problems, *problems_beside(directory))
    found = [
        (journal.header, journal.walks)
        for journal in read.journals.values()
        if journal.header is not None and journal.walks
    ]
    found.sort(key=lambda one: one[0].subject.date)
    known = list(dict.fromkeys(header.subject.label for header, _ in found))
    if missing := [name for name in subjects if name not in known]:
        raise SelectionError(
            f"there are no steps of {missing[0]!r} in {directory}; there are those of "
            f"{', '.join(known) or 'no subject'}"
        )
    if not found:
        raise SelectionError(
            f"{directory} has no steps of the path; measure them with `observatory run --preset "
            "path --with pymc`"
        )
    return [
        Walked(header.subject.label, measured_on(header), walks)
        for header, walks in found
        if not subjects or header.subject.label in subjects
    ]
