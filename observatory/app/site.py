"""Build the site of results directories, unless it is there already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from observatory.app.built import Ordered
from observatory.app.progress import Progress, silent
from observatory.app.source import Source
from observatory.dashboard.kept import Kept
from observatory.store.base.problems import Problem


def build_site(
    directories: Sequence[Path],
    out: Path,
    source: Source | None = None,
    machine: str | None = None,
    progress: Progress = silent,
    url: str = "",
) -> tuple[Path, list[Problem]]:
    """Build the site of results directories; return its first page and what could not be read.

    Nothing is built where the same files would come out of it. ``source``: where the code of the
    measured project is. ``machine`` is the one whose matrix the first page shows, and ``url`` where
    the pages will be. Raises RecordError, GitError and NotOurDirectoryError.
    """
    source = source or Source()
    ordered = Ordered(directories, out, source, machine, url)
    if (problems := ordered.problems_of_last()) is not None:
        return (out / "index.html").resolve(), problems
    # Its import takes longer than to see that nothing changed.
    from observatory.app.observed import drawn

    made_of = ordered.inputs()
    kept = Kept(*ordered.kept(made_of))
    page, problems = drawn(directories, out, source, machine, progress, url, kept)
    ordered.remember(made_of, problems, kept.files_now, kept.views_now)
    return page, problems
