"""Compare a pull request with results of its target branch that a night has stored.

Counts do not depend on what else a machine does, so that last night's serve as the base, and only
the head is measured. Where that finds anything but calm, both sides have to be measured together.
A night traces each build once, which judges its Python calls, but shows no spread of its parts.
"""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from observatory.analyze.comparison.comparing import outcome_of
from observatory.app import implementations
from observatory.app.comparison import compare_saved
from observatory.app.progress import Progress, silent
from observatory.app.session import TIMEOUT, Session
from observatory.app.taking import take_samples
from observatory.benchmarks.catalogue import Cell, Measure
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.run import counter
from observatory.run.backlog import LONGEST
from observatory.run.git import Git
from observatory.run.interleave import TRACED, WORK, Matrix, matrix
from observatory.run.local import STATE
from observatory.run.presets import Narrowed
from observatory.run.sources import of_commit
from observatory.store.journal.reader import read_header
from observatory.store.reading.saved import Saved, labelled, read_saved
from observatory.store.records import layout
from observatory.store.records.comparison import Comparison
from observatory.store.records.machine import this_machine

PARTS_UNJUDGED = (
    "The stored base has one traced sample of a build, which shows no spread: the build as a whole "
    "was judged, and its single rewriters and functions were not."
)
_PASSES = ("counting", WORK, "tracing")
_REF = "refs/observatory/head"
_AUTHOR = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "observatory"), ("EMAIL", "observatory@localhost"))
}


@dataclass(frozen=True)
class Pair:
    """What is compared instead of the merge commit and its first parent."""

    base: Saved
    head: str
    """A commit that differs from the base by the pull request alone."""
    ends: tuple[str, str]
    """The first parent of the merge commit, and that: what others can fetch."""


def stored_pair(git: Git, merge: str, stored: Path, python: str | None) -> Pair | str:
    """The stored base of a merge commit, and the pull request on top of it; or why there is none.

    The base is the newest commit of the target branch with results. The pull request must have left
    the branch before it: else later commits of the branch would count as its own.
    """
    target, pull = git.resolved(f"{merge}^1"), git.resolved(f"{merge}^2")
    if target is None or pull is None:
        return "the commit that is compared is no merge"
    base = _newest(git, target, stored, python)
    if base is None:
        return "the target branch has no stored results for this Python"
    commit = base.header.subject.commit
    if not git.contains(git.text("merge-base", pull, target), commit):
        return f"the pull request began after {commit[:10]}, the newest commit with results"
    ends = target, git.text("rev-parse", merge)
    if commit == target:
        return Pair(base, ends[1], ends)
    tree = git.run("merge-tree", "--write-tree", commit, pull)
    if tree.returncode != 0:
        return f"the pull request cannot be merged into {commit[:10]}"
    date = git.text("show", "--no-patch", "--format=%cI", merge)
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    head = git.text(
        "commit-tree", tree.stdout.split()[0], "-p", commit, "-p", pull, "-m", "merged",
        variables=_AUTHOR | dates,
    )  # fmt: skip
    git.text("update-ref", _REF, head)  # installers fetch only what a reference has
    return Pair(base, head, ends)


def compare_with_stored(
    repository: Path, pair: Pair, passes: Sequence[str], budget: float, python: str | None,
    results: Path, progress: Progress = silent,
) -> Comparison | str:  # fmt: skip
    """Measure the head and compare it with the stored base; or why the base does not suffice.

    ``results``: a directory for the samples of the head. Raises SubjectError and
    EnvironmentMakingError.
    """
    phases = _phases(
        matrix(Narrowed(measures=[one for one in passes if one != "timing"])), pair.base
    )
    if isinstance(phases, str):
        return phases
    session = Session(
        "stored", results, STATE, this_machine(None), TIMEOUT, progress=progress,
        deadline=time.monotonic() + budget,
    )  # fmt: skip
    subject = session.subjects.parse(of_commit(repository, pair.head), python=python)
    environment = session.environment(subject)
    chosen = (word for one in _PASSES for word in ("--pass", one))
    repeat = shlex.join(["observatory", "compare", "--repo", str(repository), *pair.ends, *chosen])
    taken: list[Task] = []
    found: Comparison | str = "nothing can be counted"
    for name, tasks in phases:
        if take_samples(session, subject, environment, tasks).taken < len(tasks):
            return f"the budget ended before everything was counted ({name})"
        taken += tasks
        found = _compared(pair.base, labelled(results, subject.label), taken, results, repeat)
        session.say(f"{name}, against the stored base: {outcome_of(found)}")
        if outcome_of(found) != "calm":
            break
    if isinstance(found, str):
        return found
    base = pair.base.header.subject.commit
    warnings = implementations.between_commits(
        session.say, repository, base, pair.head, environment
    )
    if _traced_once(pair.base, taken):
        warnings.append(PARTS_UNJUDGED)
    return found.model_copy(update={"warnings": [*found.warnings, *warnings]})


def _traced_once(base: Saved, taken: Sequence[Task]) -> bool:
    """Whether the base has a build that it traced only once, and that was traced of the head."""
    return _fewest(base, {one.cell for one in taken if one.measure == "tracing"}) == 1


def _fewest(base: Saved, cells: Collection[Cell]) -> int:
    """How often the base traced the build that it traced least often; 0 without any build."""
    traces = Counter(one.cell for one in base.samples if one.measure == "tracing")
    return min((traces[cell] for cell in cells), default=0)


def _compared(
    base: Saved, head: Saved, taken: Sequence[Task], results: Path, repeat: str
) -> Comparison:
    """Compare what was taken of the head with the same of the base."""
    cells = {(task.cell, task.measure) for task in taken}
    kept = tuple(one for one in base.samples if (one.cell, one.measure) in cells)
    narrowed = Narrowed(measures=_PASSES)
    return compare_saved(replace(base, samples=kept), head, narrowed, results, 0, repeat)


def _newest(git: Git, target: str, stored: Path, python: str | None) -> Saved | None:
    found = {}
    for path in layout.journals(stored):
        header = read_header(path)
        if header and not header.subject.extras and python in (None, header.subject.python):
            found[header.subject.commit] = path
    listed = git.text("rev-list", "--first-parent", f"--max-count={LONGEST}", target)
    newest = next((one for one in listed.split() if one in found), None)
    return None if newest is None else read_saved(found[newest])


def _phases(wanted: Matrix, base: Saved) -> list[tuple[str, list[Task]]] | str:
    """What to take of the head, in order, by name: all that a comparison counts.

    The caches that matter most come first, so that the first verdict does not wait for the rest. A
    sentence if the base lacks any of it.
    """
    has = {(one.cell, one.measure) for one in base.samples}
    worked = () if counter.find().problem else wanted.worked
    (first, caches), *others = wanted.groups
    rest = tuple(cell for _, group in others for cell in group)
    counting, work = Rounds(timing=0, counting=1), Rounds(timing=0, counting=0, work=1)
    tracing = Rounds(timing=0, counting=0, tracing=min(TRACED, _fewest(base, wanted.traced)))
    asked: tuple[tuple[str, tuple[Cell, ...], Measure, Rounds], ...] = (
        (first, caches, "counting", counting),
        ("all counts", rest, "counting", counting),
        (WORK, worked, WORK, work),
        ("Python calls", wanted.traced, "tracing", tracing),
    )
    for _, cells, measure, _ in asked:
        if lacking := [cell for cell in cells if (cell, measure) not in has]:
            return f"the stored results lack {len(lacking)} cells, e.g. {lacking[0]} ({measure})"
    return [(name, plan(cells, rounds)) for name, cells, _, rounds in asked if cells]
