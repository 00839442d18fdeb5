"""Commits of a range, read from a real clone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from observatory.run import sources
from observatory.run.commits import commits_between, definitions
from observatory.run.git import Git, GitError
from observatory.run.sources import SubjectError, uncommitted


@pytest.fixture
def clone(tmp_path: Path) -> Git:
    def git(*words: str) -> None:
        person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", *person, *words], cwd=tmp_path, check=True, capture_output=True)

    def commit(title: str, file: str, text: str = "x") -> None:
        (tmp_path / file).write_text(text)
        git("add", ".")
        git("commit", "-m", title)

    git("init", "-b", "main")
    commit("first", "a.py")
    git("tag", "rel-1")
    git("checkout", "-b", "side")
    commit("on a branch", "b.py", "class Join:\n    pass\n")
    git("checkout", "main")
    commit("squashed (#12)", "c.py")
    git("merge", "--no-ff", "-m", "Merge pull request #7 from ada/side", "side")
    git("tag", "rel-2")
    return Git(tmp_path)


def test_a_range_has_its_commits_with_the_pull_requests_that_brought_them(clone: Git) -> None:
    found = commits_between(clone, "rel-1", "rel-2")
    assert {(one.title, one.pull_request, one.files) for one in found.commits} == {
        ("on a branch", 7, ("b.py",)), ("squashed (#12)", 12, ("c.py",)),
    }  # fmt: skip
    assert {one.author for one in found.commits} == {"Ada"}


def test_what_the_clone_does_not_have_is_said(clone: Git) -> None:
    assert "has no commit rel-9" in commits_between(clone, "rel-1", "rel-9").absent
    assert "has no commit that" in commits_between(clone, "rel-2", "rel-1").absent


def test_the_files_that_define_a_name_are_found(clone: Git) -> None:
    assert definitions(clone, "rel-2", ["Join", "Nothing"]) == {"Join": ("b.py",)}


def test_a_change_that_is_not_committed_is_said_of_the_commit_that_is_checked_out(
    clone: Git,
) -> None:
    where = clone.repository
    head, before = (clone.text("rev-parse", name) for name in ("HEAD", "HEAD~1"))
    assert uncommitted(where, head) == ""
    (where / "a.py").write_text("y")
    assert uncommitted(where, head) == (
        f"1 changed file of {where} is not committed: only commits are measured"
    )
    assert uncommitted(where, before) == ""


def test_a_name_that_the_clone_does_not_have_is_answered_with_those_it_has(
    clone: Git, tmp_path: Path
) -> None:
    with pytest.raises(SubjectError, match=r"no branch, tag or commit 'sied' .*mean 'side'"):
        sources.commits_between(clone.repository, "sied")
    with pytest.raises(GitError, match="nowhere is not a git repository: give the path"):
        sources.commits_between(tmp_path / "nowhere", "main")
