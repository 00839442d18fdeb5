"""What results lack of a plan, because a part was lost or took too long: which commits, samples."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from observatory.benchmarks.plan import Task
from observatory.run.git import Git
from observatory.run.schedule import remaining
from observatory.store.journal.models import plan_of
from observatory.store.journal.reader import read_journal
from observatory.store.journal.values import latest_runs
from observatory.store.records import layout
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject

LATELY = timedelta(days=3)
"""What a commit lacks is taken this long after its last sample; then it stays as it is."""
_LOOKED = 50
"""Commits that are looked back for incomplete ones."""


def lacking(tasks: Iterable[Task], recorded: Iterable[Sample]) -> list[Task]:
    """The tasks of a plan without a sample, after those that fill the caches that they need."""
    return remaining(tasks, recorded, lambda _: False)


def recorded(
    results: Path, machine: Machine, subject: Subject, tasks: Sequence[Task]
) -> list[Sample]:
    """The samples of a plan that results have of a subject on a machine, and that need no other.

    Only the latest run of a cell counts, and times of one CPU. So the times of a cell count here if
    one run took all of them on this CPU: another run that took the rest would hide them.
    """
    path = layout.journal_path(results, machine.machine, subject)
    if not path.is_file():
        return []
    found = [
        one.sample
        for one in latest_runs(read_journal(path).entries)
        if one.sample.measure != "timing" or one.header.machine.cpu == machine.cpu
    ]
    open_ = {task.cell for task in lacking(tasks, found) if task.measure == "timing"}
    return [one for one in found if one.measure != "timing" or one.cell not in open_]


def incomplete(
    repository: Path, branch: str, results: Path, machine: str | None, plan: str,
    tasks: Sequence[Task], now: datetime, most: int,
) -> list[str]:  # fmt: skip
    """The commits that a run of a plan measured lately, and not wholly; the oldest first.

    Of more than ``most`` the newest. ``tasks``: those of the plan. Work and what optional backends
    need do not count: a machine may be unable to take them. Raises GitError.
    """
    wanted = [task for task in tasks if task.measure != "work" and not task.cell.installs]
    listed = Git(repository).text(
        "rev-list", "--first-parent", f"--max-count={_LOOKED}", "--end-of-options", branch
    )
    since = now - LATELY
    found = (
        commit
        for commit in listed.split()
        if _lacks(_journals(results, machine, commit), plan, wanted, since)
    )
    return list(islice(found, most))[::-1]


def _journals(results: Path, machine: str | None, commit: str) -> list[Path]:
    return sorted((results / layout.SAMPLES).glob(f"{machine or '*'}/{commit[:8]}-*.jsonl"))


def _lacks(journals: Collection[Path], plan: str, tasks: Sequence[Task], since: datetime) -> bool:
    """Whether runs of a plan are there that are young, and none of the journals is complete."""
    found = False
    for path in journals:
        samples = [one.sample for one in read_journal(path).entries if plan_of(one.run) == plan]
        if not lacking(tasks, samples):
            return False
        found = found or any(one.started_at >= since for one in samples)
    return found
