"""Which commits of a branch are to be measured next, and which are left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from observatory.run.git import Git, GitError
from observatory.run.sources import SubjectError
from observatory.store.asv.columns import SeriesList
from observatory.store.asv.listing import LARGEST_FILE
from observatory.store.asv.result import Head, parse
from observatory.store.base.files import read_bounded
from observatory.store.base.problems import RecordError
from observatory.store.journal.models import SEARCH, plan_of
from observatory.store.journal.reader import read_header, runs_in
from observatory.store.records import layout

IMPORTED = "pytest-benchmark"
"""Begins the environment of results that were imported from pytest-benchmark."""
KINDS = ("observatory", IMPORTED, "asv")
"""Whose results say that a commit is measured."""
LONGEST = 5000
"""Commits that are looked back for a measured one."""


@dataclass(frozen=True)
class Gap:
    """Neighbours on the branch that are not measured, between two commits that are."""

    after: str
    before: str
    commits: int

    def __str__(self) -> str:
        """Return how many, and between which."""
        return f"{self.commits} between {self.after[:10]} and {self.before[:10]}"


@dataclass(frozen=True)
class Backlog:
    """The commits of a branch since the last measured one."""

    chosen: tuple[str, ...]
    """Those to measure, the oldest first; the newest of the branch is the last of them."""
    last: str | None
    """The newest commit with results; None if there is none on the branch."""
    gaps: tuple[Gap, ...] = ()
    """Those that are left out, because there are more than a run may take."""
    inside: tuple[str, ...] = ()
    """Those of ``chosen`` that an earlier run left out, and that lie where a change began."""

    def sentences(self) -> list[str]:
        """What is measured and what is not, as sentences."""
        new = len(self.chosen) - len(self.inside)
        number = f"{new} commit{'' if new == 1 else 's'}"
        said = []
        if self.inside:
            named = ", ".join(one[:10] for one in self.inside)
            said.append(f"Left out before, and measured now because a change began there: {named}.")
        if not new:
            return [*said, f"{str(self.last)[:10]} is the newest commit and has results."]
        if self.last is None:
            return [f"No commit has results yet: measuring begins with the newest {number}."]
        said.append(f"{number} to measure since {self.last[:10]}, the last one with results.")
        if self.gaps:
            left = sum(gap.commits for gap in self.gaps)
            named = "; ".join(map(str, self.gaps))
            said.append(f"{left} of the commits since then are left out: {named}.")
        return said


def backlog(
    repository: Path,
    branch: str,
    measured: Set[str],
    most: int,
    changes: Collection[tuple[str, str]] = (),
) -> Backlog:
    """Return what to measure of a branch: everything since its last measured commit.

    Only first parents are followed. If there are more than ``most``, they are sampled evenly, with
    the newest. If none is measured, the newest one is a beginning. Commits that were left out
    between the last good and the first bad commit of ``changes`` come before all but the newest.
    Raises SubjectError.
    """
    if most < 1:
        raise SubjectError(f"{most} commits cannot be measured; give a number of at least 1")
    try:
        listed = Git(repository).text(
            "rev-list", "--first-parent", f"--max-count={LONGEST}", "--end-of-options", branch
        )
    except GitError as error:
        raise SubjectError(f"{branch!r} is no branch of {repository}: {error}") from error
    newest_first = listed.split()
    place = next((i for i, one in enumerate(newest_first) if one in measured), None)
    if place is None:
        return Backlog(tuple(newest_first[:1]), None)
    waiting = newest_first[:place][::-1]
    old = newest_first[place:][::-1]
    inside = _inside(old, changes, measured, most - bool(waiting))
    kept = sampled(waiting, most - len(inside))
    gaps = tuple(_gaps(newest_first[place], waiting, kept))
    return Backlog((*inside, *kept), newest_first[place], gaps, tuple(inside))


def _inside(
    commits: Sequence[str], changes: Collection[tuple[str, str]], measured: Set[str], most: int
) -> list[str]:
    """At most so many commits, the oldest first, that would narrow the ranges of changes."""
    places = {one: place for place, one in enumerate(commits)}
    ranges = [(places[a], places[b]) for a, b in changes if a in places and b in places]
    left = [
        [one for one in commits[start + 1 : end] if one not in measured] for start, end in ranges
    ]
    chosen: dict[str, None] = {}
    # The middle of each range first: that halves it.
    while len(chosen) < most and any(left):
        for one in filter(None, left):
            if len(chosen) < most:
                chosen[one.pop(len(one) // 2)] = None
    return sorted(chosen, key=places.__getitem__)


def sampled(commits: Sequence[str], most: int) -> list[str]:
    """Return at most ``most`` of them, evenly spaced, with the last."""
    if len(commits) <= most:
        return list(commits)
    return [commits[len(commits) * (i + 1) // most - 1] for i in range(most)]


def _gaps(last: str, waiting: Sequence[str], kept: Sequence[str]) -> list[Gap]:
    found, before, place = [], last, -1
    for one in kept:
        here = waiting.index(one)
        if left := here - place - 1:
            found.append(Gap(before, one, left))
        before, place = one, here
    return found


def measured_commits(results: Path, kind: str, machine: str | None = None) -> set[str]:
    """Return the commits that have results of a kind; files that cannot be read have none.

    ``kind`` is one of `KINDS`: samples of the observatory, imports from pytest-benchmark, or result
    files of any other asv suite. ``machine`` restricts it to the results of one machine.
    """
    pattern = machine or "*"
    journals = {
        path: read_header(path)
        for path in sorted((results / layout.SAMPLES).glob(f"{pattern}/*.jsonl"))
    }
    if kind == "observatory":
        return {
            header.subject.commit
            for path, header in journals.items()
            # more is there than the single cells of a search
            if header is not None and any(plan_of(run) != SEARCH for run in runs_in(path))
        }
    found = set()
    for path in sorted(results.glob(f"{pattern}/*.json")):
        if path.parent.name in layout.RESERVED or layout.journal_beside(results, path) in journals:
            continue
        head = _head(path)
        if head and head.env_name.startswith(IMPORTED) == (kind == IMPORTED):
            found.add(head.commit)
    return found


def _head(path: Path) -> Head | None:
    """What an asv result file says of itself; None if it cannot be read or is none."""
    try:
        content = read_bounded(path, LARGEST_FILE, "no result file is")
    except RecordError:
        return None
    return parse(content or b"", SeriesList()).head
