"""What results lack of a plan: only of young runs of it, and only what a machine can take."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import cells
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.run.incomplete import LATELY, incomplete, lacking, recorded
from tests.factories import header, journal, sample

NOW = datetime(2026, 11, 26, 2, tzinfo=UTC)
TASKS = plan(
    cells(("radon",), ("cold", "warm_disk"), ("C", "NUMBA"), ("spawn",)),
    Rounds(timing=2, counting=1, work=1),
)
WANTED = [task for task in TASKS if task.measure != "work"]


@pytest.fixture
def clone(tmp_path: Path) -> tuple[Path, list[str]]:
    """A repository with two commits, the oldest first."""
    where = tmp_path / "clone"
    who = ("-c", "user.name=A", "-c", "user.email=a@b")
    git = ["git", "-C", str(where), *who]
    subprocess.run(["git", "init", "--quiet", str(where)], check=True)
    for name in "ab":
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", name], check=True)
    listed = subprocess.run(
        [*git, "rev-list", "--reverse", "HEAD"], check=True, capture_output=True, text=True
    )
    return where, listed.stdout.split()


def write(
    results: Path, commit: str, tasks: list[Task], run: str = "history", days: int = 0
) -> None:
    """Results of a commit: a sample for each of some tasks."""
    when = NOW - timedelta(hours=1, days=days)
    samples = [sample(task.cell, task.measure, started_at=when) for task in tasks]
    journal(results, samples, f"20261126T010000Z-{run}", header(commit=commit))


def test_a_commit_of_which_a_part_was_lost_is_incomplete_until_it_has_been_taken(
    tmp_path: Path, clone: tuple[Path, list[str]]
) -> None:
    where, (first, second) = clone

    def found(machine: str | None = "bench") -> list[str]:
        return incomplete(where, "HEAD", tmp_path, machine, "history", TASKS, NOW, 8)

    assert found() == []
    write(tmp_path, first, WANTED)
    write(tmp_path, second, WANTED[:-1])
    assert found() == found(None) == [second]
    assert found("another") == []
    write(tmp_path, second, WANTED[-1:])  # by another run, as a part is
    assert found() == []


def test_what_is_old_or_was_no_run_of_the_plan_is_left_as_it_is(
    tmp_path: Path, clone: tuple[Path, list[str]]
) -> None:
    where, (first, second) = clone
    write(tmp_path, first, WANTED[:1], days=LATELY.days)
    write(tmp_path, second, WANTED[:1], run="search")
    assert incomplete(where, "HEAD", tmp_path, None, "history", TASKS, NOW, 8) == []


def test_of_more_incomplete_commits_than_there_is_time_for_the_newest_are_taken(
    tmp_path: Path, clone: tuple[Path, list[str]]
) -> None:
    where, commits = clone
    for one in commits:
        write(tmp_path, one, WANTED[:-1])

    def found(most: int) -> list[str]:
        return incomplete(where, "HEAD", tmp_path, "bench", "history", TASKS, NOW, most)

    assert [found(most) for most in (3, 2, 1, 0)] == [commits, commits, commits[1:], []]


def test_only_what_is_missing_is_taken_with_what_fills_its_cache(tmp_path: Path) -> None:
    warm = next(task for task in WANTED if task.cache and task.measure == "counting")
    there = [task for task in WANTED if task is not warm]
    write(tmp_path, "a" * 40, there)
    of = header(commit="a" * 40)
    found = recorded(tmp_path, of.machine, of.subject, WANTED)
    left = lacking(WANTED, found)
    assert [(task.cell, task.measure) for task in left if task.keep is None] == [
        (warm.cell, warm.measure)
    ]
    assert [task.keep for task in left if task.keep] == [warm.cache]
    assert lacking(WANTED, [*found, sample(warm.cell, warm.measure)]) == []
    another = of.machine.model_copy(update={"machine": "another"})
    assert recorded(tmp_path, another, of.subject, WANTED) == []


@pytest.mark.parametrize("where", ["same CPU", "another CPU", "several runs"])
def test_times_are_completed_only_by_all_of_their_cell_on_one_cpu(
    tmp_path: Path, where: str
) -> None:
    """Only the latest run of a cell counts, with the times of its own CPU."""
    of = header(commit="a" * 40)
    timed = [task for task in WANTED if task.measure == "timing"]
    write(tmp_path, "a" * 40, timed[:-1])
    machine, expected = of.machine, {timed[-1].cell}
    if where == "another CPU":
        machine, expected = machine.model_copy(update={"cpu": "newer"}), {t.cell for t in timed}
    if where == "several runs":
        write(tmp_path, "a" * 40, timed[-1:], run="later")
    found = recorded(tmp_path, machine, of.subject, timed)
    left = [task for task in lacking(timed, found) if task.measure == "timing"]
    assert {task.cell for task in left} == expected
    assert len([task for task in left if task in timed]) == 2 * len(expected)
