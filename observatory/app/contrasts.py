"""Compare two subjects in the results of a project that measures with asv or pytest-benchmark."""

from __future__ import annotations

from observatory import tool_version
from observatory.analyze.history.contrasts import lines_of
from observatory.analyze.history.series import series_of
from observatory.app.progress import Progress, Update, doing, silent, skipped
from observatory.store.base.problems import RecordUsageError
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import read_results, united
from observatory.store.reading.saved import place_of_saved
from observatory.store.records.contrast import Contrasts


def contrast(
    base: str, head: str, *, pattern: str | None = None, progress: Progress = silent
) -> Contrasts:
    """Say what two subjects of any asv results differ in.

    Args:
        base: ``DIRECTORY:LABEL``; a label is a release, a commit, or the beginning of a hash.
        head: Written like ``base``.
        pattern: Only benchmarks whose name matches, as for a shell, anywhere in the name.
        progress: A function that is called with every update.

    Returns:
        The series of every machine and environment that measured both, the largest difference
        first. Values are in the unit of their series.

    Raises:
        RecordUsageError: A side has no label.
        SelectionError: A subject is not in the results, or nothing is left to compare.

    """
    sides = [place_of_saved(text) for text in (base, head)]
    labels = [label for _, label in sides if label]
    if len(labels) != len(sides):
        raise RecordUsageError(f"{base} and {head} need a subject each: write DIR:SUBJECT")
    directories = list(dict.fromkeys(directory for directory, _ in sides))
    with doing(progress, f"reading {' and '.join(map(str, directories))}"):
        read = united([read_results(one, directory_for(one)) for one in directories])
        series = series_of(read)
    for line in skipped(read.problems):
        progress(Update(line, "warning"))
    with doing(progress, "looking for steps"):
        lines = list(lines_of(series, labels[0], labels[1], pattern))
    return Contrasts(observatory=tool_version(), lines=lines)
