"""Whose run it is: what GitHub says of it counts, what the artifact says does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from observatory.github.artifact import RefusedError, moved_on, run_of
from observatory.github.client import GitHub
from observatory.github.models import Pull, Run
from tests.fake_github import FakeGitHub

OTHER = "c" * 40


def run(**how: Any) -> Run:
    return Run.model_validate(FakeGitHub.run(_Nowhere(), **how))  # type: ignore[arg-type]


def pull(**how: Any) -> Pull:
    return Pull.model_validate(FakeGitHub.pull(_Nowhere(), **how))  # type: ignore[arg-type]


class _Nowhere:
    """As much of the fake as making a record needs."""

    def __init__(self) -> None:
        self.runs: dict[int, object] = {}
        self.pulls: dict[int, object] = {}
        self.commits: dict[int, list[str]] = {}


def never() -> Sequence[str]:
    raise AssertionError("the commits were asked for, and need not be")


def test_a_run_of_the_newest_commit_belongs() -> None:
    assert moved_on(run(), pull(), never) is False


def test_a_run_of_an_earlier_commit_belongs_and_is_told_apart() -> None:
    assert moved_on(run(sha=OTHER), pull(), lambda: [OTHER, "a" * 40]) is True


def test_a_commit_that_was_pushed_away_belongs_no_more() -> None:
    with pytest.raises(RefusedError, match=r"not one of its commits, or was removed"):
        moved_on(run(sha=OTHER), pull(), lambda: ["a" * 40])


def test_the_same_commit_in_another_fork_does_not_make_it_theirs() -> None:
    """Anybody can push another's commit to a fork of their own, under the same name."""
    with pytest.raises(RefusedError, match="another branch or another fork"):
        moved_on(run(fork="mallory"), pull(), never)


def test_the_same_commit_on_another_branch_does_not_make_it_theirs() -> None:
    with pytest.raises(RefusedError, match="another branch"):
        moved_on(run(branch="evil"), pull(), never)
    with pytest.raises(RefusedError, match="another branch"):
        moved_on(run().model_copy(update={"head_branch": None}), pull(), never)


def test_a_fork_that_was_deleted_is_known_by_its_owner() -> None:
    assert moved_on(run(), pull(gone=True), never) is False
    with pytest.raises(RefusedError):
        moved_on(run(fork="mallory"), pull(gone=True), never)


def test_a_fork_that_neither_knows_is_known_by_branch_and_commit() -> None:
    assert moved_on(run(gone=True), pull(gone=True), never) is False
    with pytest.raises(RefusedError):
        moved_on(run(gone=True, branch="other"), pull(gone=True), never)
    with pytest.raises(RefusedError):
        moved_on(run(gone=True, sha=OTHER), pull(gone=True), lambda: ["a" * 40])


def test_a_run_without_a_repository_is_of_no_living_fork() -> None:
    with pytest.raises(RefusedError):
        moved_on(run(gone=True), pull(), never)


def test_an_account_that_was_deleted_is_nobody() -> None:
    orphan = pull(gone=True)
    orphan = orphan.model_copy(update={"head": orphan.head.model_copy(update={"user": None})})
    with pytest.raises(RefusedError):
        moved_on(run(), orphan, never)


@pytest.mark.parametrize("event", ["push", "pull_request_target", "schedule", "workflow_dispatch"])
def test_only_a_pull_request_starts_such_a_run(
    fake: FakeGitHub, github: GitHub, event: str
) -> None:
    fake.run()
    assert run_of(github, 900).id == 900
    fake.run(event=event)
    with pytest.raises(RefusedError, match=f"started by '{event}', not by a pull request"):
        run_of(github, 900)
