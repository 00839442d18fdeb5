from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from observatory.run.backlog import Gap, backlog, measured_commits, sampled
from observatory.run.sources import SubjectError
from observatory.store.journal.writer import Journal
from tests.factories import header, sample
from tests.factories_git import git as git_in


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A repository with ten commits on main, the oldest first, and a merged branch."""
    where = tmp_path_factory.mktemp("clone")

    git = partial(git_in, where)
    git("init", "--quiet", "--initial-branch=main")
    for number in range(9):
        git("commit", "--quiet", "--allow-empty", "-m", str(number))
    git("checkout", "--quiet", "-b", "side", "HEAD~2")
    git("commit", "--quiet", "--allow-empty", "-m", "side")
    git("checkout", "--quiet", "main")
    git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    return where, git("rev-list", "--first-parent", "--reverse", "main").split()


def test_every_commit_since_the_last_measured_one_is_measured(
    clone: tuple[Path, list[str]],
) -> None:
    where, commits = clone
    found = backlog(where, "main", {commits[1], commits[3], "f" * 40}, most=20)
    assert found.chosen == tuple(commits[4:])
    assert (found.last, found.gaps) == (commits[3], ())
    assert found.sentences() == [
        f"6 commits to measure since {commits[3][:10]}, the last one with results."
    ]


def test_more_than_the_limit_are_sampled_with_the_newest_and_the_gaps_are_named(
    clone: tuple[Path, list[str]],
) -> None:
    where, commits = clone
    found = backlog(where, "main", {commits[2]}, most=3)
    assert found.chosen == (commits[4], commits[6], commits[9])
    assert found.gaps == (
        Gap(commits[2], commits[4], 1), Gap(commits[4], commits[6], 1),
        Gap(commits[6], commits[9], 2),
    )  # fmt: skip
    assert len(found.chosen) + sum(gap.commits for gap in found.gaps) == 7
    assert found.sentences()[1] == (
        f"4 of the commits since then are left out: 1 between {commits[2][:10]} and "
        f"{commits[4][:10]}; 1 between {commits[4][:10]} and {commits[6][:10]}; 2 between "
        f"{commits[6][:10]} and {commits[9][:10]}."
    )


def test_commits_left_out_where_a_change_began_come_before_all_but_the_newest(
    clone: tuple[Path, list[str]],
) -> None:
    where, commits = clone
    measured = {commits[0], commits[4], commits[6]}
    change = commits[0], commits[4]
    found = backlog(where, "main", measured, most=3, changes=[change])
    assert found.inside == (commits[2], commits[3])
    assert found.chosen == (commits[2], commits[3], commits[9])
    assert found.sentences()[0] == (
        "Left out before, and measured now because a change began there: "
        f"{commits[2][:10]}, {commits[3][:10]}."
    )
    assert found.sentences()[1].startswith("1 commit to measure since")
    two = backlog(where, "main", measured, most=3, changes=[change, (commits[4], commits[6])])
    assert two.inside == (commits[2], commits[5])
    strange = backlog(where, "main", measured, most=3, changes=[("f" * 40, commits[4])])
    assert strange.inside == ()
    assert backlog(where, "main", measured, most=1, changes=[change]).chosen == (commits[9],)
    everything = {*measured, commits[9]}
    idle = backlog(where, "main", everything, most=5, changes=[change])
    assert idle.chosen == tuple(commits[1:4])
    assert idle.sentences()[-1].endswith("is the newest commit and has results.")


def test_what_a_search_measured_is_not_measured(tmp_path: Path) -> None:
    ours = header("3.3.7")
    journal = Journal.of(tmp_path, ours)
    journal.append("20261125T000000Z-bisect", sample())
    assert measured_commits(tmp_path, "observatory") == set()
    journal.append("20261125T000001Z-history", sample())
    assert measured_commits(tmp_path, "observatory") == {ours.subject.commit}


def test_without_results_the_newest_commit_is_a_beginning(clone: tuple[Path, list[str]]) -> None:
    where, commits = clone
    assert backlog(where, "main", set(), most=5).chosen == (commits[9],)


def test_nothing_is_measured_twice(clone: tuple[Path, list[str]]) -> None:
    where, commits = clone
    found = backlog(where, "main", {commits[9]}, most=5)
    assert found.chosen == ()
    assert found.sentences() == [f"{commits[9][:10]} is the newest commit and has results."]


def test_a_mistake_is_a_sentence(clone: tuple[Path, list[str]]) -> None:
    with pytest.raises(SubjectError, match="'trunk' is no branch"):
        backlog(clone[0], "trunk", set(), most=5)
    with pytest.raises(SubjectError, match="at least 1"):
        backlog(clone[0], "main", set(), most=0)


@pytest.mark.parametrize(("number", "most"), [(1, 1), (7, 3), (100, 8), (8, 8)])
def test_a_sample_has_no_more_than_it_may_and_ends_with_the_last(number: int, most: int) -> None:
    commits = [str(one) for one in range(number)]
    kept = sampled(commits, most)
    assert len(kept) == len(set(kept)) == min(number, most)
    assert kept[-1] == commits[-1]
    assert kept == sorted(kept, key=int)


def test_each_kind_of_results_has_commits_of_its_own(tmp_path: Path) -> None:
    ours = header("3.3.7")
    Journal.of(tmp_path, ours).append("20261125T000000Z-quick", sample())
    machine = tmp_path / ours.machine.machine
    machine.mkdir(exist_ok=True)
    for commit, env in (("a" * 40, "pytest-benchmark-py3.13"), ("b" * 40, "virtualenv-py3.13")):
        content = {"commit_hash": commit, "env_name": env, "date": 0, "params": {}, "version": 2,
                   "python": "3.13", "result_columns": ["result"], "results": {}}  # fmt: skip
        (machine / f"{commit[:8]}-{env}.json").write_text(json.dumps(content))
    (machine / "broken.json").write_text("{")
    assert measured_commits(tmp_path, "observatory") == {ours.subject.commit}
    assert measured_commits(tmp_path, "pytest-benchmark") == {"a" * 40}
    assert measured_commits(tmp_path, "asv", machine.name) == {"b" * 40}
    assert measured_commits(tmp_path, "asv", "another") == set()
