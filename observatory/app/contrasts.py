"""Compare two subjects in the results of a project that measures with asv or pytest-benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from observatory import tool_version
from observatory.analyze.history.contrasts import lines_of, subject_on
from observatory.analyze.history.series import series_of
from observatory.app.progress import Progress, Update, doing, silent, skipped
from observatory.store.base.problems import RecordUsageError
from observatory.store.reading.beside import problems_beside
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import (
    ResultFile,
    Results,
    read_results,
    united,
    without,
)
from observatory.store.reading.saved import place_of_saved
from observatory.store.records.contrast import Contrasts


def contrast(
    base: str, head: str, *, pattern: str | None = None, progress: Progress = silent
) -> Contrasts:
    """Say what two subjects of any asv results differ in.

    Args:
        base: ``DIRECTORY:LABEL``; a label is a release, a commit, or the beginning of a hash.
        head: Written like ``base``.
        pattern: Only benchmarks whose name has this text; * stands for any text.
        progress: A function that is called with every update.

    Returns:
        The series of every machine and environment that measured both, the largest difference
        first. Values are in the unit of their series.

    Raises:
        RecordUsageError: A side has no label, or both are one commit in two directories.
        SelectionError: A subject is not in the results, or nothing is left to compare.

    """
    sides = [place_of_saved(text) for text in (base, head)]
    labels = [label for _, label in sides if label]
    if len(labels) != len(sides):
        raise RecordUsageError(f"{base} and {head} must each name a subject, as in DIR:SUBJECT")
    directories = list(dict.fromkeys(directory for directory, _ in sides))
    with doing(progress, f"reading {' and '.join(map(str, directories))}"):
        parts = [read_results(one, directory_for(one)) for one in directories]
        read = united(_each_its_own(parts, directories, labels) if len(parts) > 1 else parts)
        series = series_of(read)
    beside = [problem for directory in directories for problem in problems_beside(directory)]
    for line in skipped([*read.problems, *beside]):
        progress(Update(line, "warning"))
    with doing(progress, "looking for steps"):
        lines = list(lines_of(series, labels[0], labels[1], pattern))
    return Contrasts(observatory=tool_version(), lines=lines)


def _each_its_own(
    parts: Sequence[Results], directories: Sequence[Path], labels: Sequence[str]
) -> list[Results]:
    """Two directories, in which each subject is that of its side: both may hold both subjects."""
    commits = [_commits(part, label) for part, label in zip(parts, labels, strict=True)]
    if same := commits[0] & commits[1]:
        raise RecordUsageError(
            f"{min(same)} is in {directories[0]} and in {directories[1]}, and a history has one "
            "value of each commit: compare two commits, or import one under another --subject"
        )
    there = [{(one.machine, one.env_name, one.commit) for one in part.files} for part in parts]

    def of_other_side(side: int) -> Callable[[ResultFile], bool]:
        other = 1 - side
        return lambda one: (
            one.commit in commits[other] and (one.machine, one.env_name, one.commit) in there[other]
        )

    return [without(part, of_other_side(side)) for side, part in enumerate(parts)]


def _commits(part: Results, label: str) -> set[str]:
    """The commits that a label names in the results of one directory."""
    lines = {id(one.line): one.line for one in series_of(part)}.values()
    found = ((line, subject_on(line, label)) for line in lines)
    return {line.subjects[number].commit for line, number in found if number is not None}
