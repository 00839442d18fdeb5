from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from observatory.app import stored_base
from observatory.app.stored_base import Pair, compare_with_stored, stored_pair
from observatory.benchmarks.plan import Rounds, plan
from observatory.run.counter import Counter
from observatory.run.git import Git
from observatory.run.interleave import matrix
from observatory.run.presets import Narrowed
from observatory.store.reading.saved import load
from tests.factories import header, journal, sample
from tests.factories_git import git as git_in

Run = Callable[..., str]


@pytest.fixture
def clone(tmp_path: Path) -> tuple[Path, Run]:
    """Three commits on main; `fix` began after the first, and is merged into the last."""
    where = tmp_path / "clone"
    where.mkdir()

    git = partial(git_in, where)

    def commit(name: str) -> None:
        (where / name).write_text(name)
        git("add", ".")
        git("commit", "--quiet", "-m", name)

    git("init", "--quiet", "--initial-branch=main")
    commit("first")
    git("branch", "fix")
    commit("second")
    commit("third")
    git("checkout", "--quiet", "fix")
    commit("change")
    git("checkout", "--quiet", "-b", "merge", "main")
    git("merge", "--quiet", "--no-ff", "-m", "merge", "fix")
    return where, git


def stored(tmp_path: Path, commit: str, python: str = "3.13") -> Path:
    results = tmp_path / "stored"
    journal(results, [sample()], under=header(commit[:12], commit=commit, python=python))
    return results


def test_the_newest_commit_with_results_is_the_base_and_the_pull_request_alone_is_on_top(
    clone: tuple[Path, Run], tmp_path: Path
) -> None:
    where, git = clone
    stored(tmp_path, git("rev-parse", "main~2"))
    results = stored(tmp_path, git("rev-parse", "main~1"))
    found = stored_pair(Git(where), "merge", results, "3.13")
    assert isinstance(found, Pair)
    assert found.base.header.subject.commit == git("rev-parse", "main~1")
    assert git("diff", "--name-only", "main~1", found.head) == "change"
    assert found.ends == (git("rev-parse", "main"), git("rev-parse", "merge"))
    assert stored_pair(Git(where), "merge", results, "3.13") == found  # the same commit each time


def test_results_of_the_target_itself_leave_the_merge_as_it_is(
    clone: tuple[Path, Run], tmp_path: Path
) -> None:
    where, git = clone
    found = stored_pair(Git(where), "merge", stored(tmp_path, git("rev-parse", "main")), None)
    assert isinstance(found, Pair)
    assert found.head == git("rev-parse", "merge")


def test_where_there_is_no_such_base_the_reason_is_said(
    clone: tuple[Path, Run], tmp_path: Path
) -> None:
    where, git = clone
    git("checkout", "--quiet", "-b", "late", "main")
    git("commit", "--quiet", "--allow-empty", "-m", "late")
    git("checkout", "--quiet", "-b", "merged", "main")
    git("merge", "--quiet", "--no-ff", "-m", "m", "late")
    results = stored(tmp_path, git("rev-parse", "main~1"))
    assert "began after" in str(stored_pair(Git(where), "merged", results, "3.13"))
    assert "for this Python" in str(stored_pair(Git(where), "merge", results, "3.12"))
    assert "is no merge" in str(stored_pair(Git(where), "main", results, "3.13"))
    (where / "change").write_text("another")
    git("checkout", "--quiet", "main")
    git("add", ".")
    git("commit", "--quiet", "-m", "conflicts")
    results = stored(tmp_path / "other", git("rev-parse", "main"))
    git("checkout", "--quiet", "-b", "resolved")
    git("merge", "--quiet", "-s", "ours", "-m", "m", "fix")
    git("checkout", "--quiet", "-B", "newer", "main")
    git("commit", "--quiet", "--allow-empty", "-m", "newer")
    tree = git("rev-parse", "HEAD^{tree}")
    merge = git("commit-tree", tree, "-p", "newer", "-p", "fix", "-m", "m")
    assert "cannot be merged" in str(stored_pair(Git(where), merge, results, "3.13"))


ENDS = "c" * 40, "d" * 40


def test_what_the_stored_results_lack_is_named(tmp_path: Path) -> None:
    pair = Pair(load(str(stored(tmp_path, "a" * 40))), "b" * 40, ENDS)
    said = compare_with_stored(tmp_path, pair, ("counting",), 60, None, tmp_path / "taken")
    assert str(said).startswith("the stored results lack ")


@pytest.mark.parametrize(
    ("misses", "calls", "phases"),
    [
        (0, 1000.0, ["counting", "counting", "work", "tracing"]),
        (0, 1100.0, ["counting", "counting", "work", "tracing"]),
        (3, 1000.0, ["counting"]),
    ],
)
def test_counts_come_first_and_what_is_not_calm_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, misses: int, calls: float, phases: list[str]
) -> None:
    """Its samples are synthetic: how they are taken is tested elsewhere."""
    passes = ("counting", "work", "tracing")
    wanted = matrix(Narrowed(measures=passes))
    cells_of = dict(zip(passes, (wanted.counted, wanted.worked, wanted.traced), strict=True))

    def taken(measure: str, counted: float, called: float = 1000.0) -> list[object]:
        rounds = Rounds(**{"timing": 0, "counting": 0, measure: 1})
        cells = cells_of[measure]
        metrics = {
            "counting": {"cache_misses": counted}, "work": {"instructions": 1e9},
            "tracing": {"python_calls": called},
        }[measure]  # fmt: skip
        return [sample(task.cell, measure, metrics) for task in plan(cells, rounds)
                if task.measure == measure]  # fmt: skip

    base = header("base", commit="a" * 40)
    head = header("head", commit="b" * 40)
    both = [one for measure in passes for one in taken(measure, 0)]
    journal(tmp_path / "stored", both, under=base)
    done: list[str] = []

    def take(session: object, subject: object, environment: object, tasks: list[object]) -> object:
        measure = tasks[-1].measure  # type: ignore[attr-defined]
        done.append(measure)
        cells = {task.cell for task in tasks}  # type: ignore[attr-defined]
        made = [one for one in taken(measure, misses, calls) if one.cell in cells]  # type: ignore[attr-defined]
        journal(tmp_path / "taken", made, under=head)
        return type("Tally", (), {"taken": len(tasks)})

    monkeypatch.setattr(stored_base, "take_samples", take)
    monkeypatch.setattr(stored_base.Session, "environment", lambda *_: None)
    monkeypatch.setattr(stored_base.Session, "subjects", _Subjects(head.subject))
    monkeypatch.setattr(stored_base.counter, "find", lambda: Counter("callgrind", ""))
    monkeypatch.setattr(stored_base.implementations, "between_commits", lambda *given: [given[2:4]])
    pair = Pair(load(str(tmp_path / "stored")), "b" * 40, ENDS)
    found = compare_with_stored(tmp_path, replace(pair), passes, 60, None, tmp_path / "taken")
    assert not isinstance(found, str), found
    assert done == phases
    assert found.reproduce == (
        f"observatory compare --repo {tmp_path} {ENDS[0]} {ENDS[1]} --pass counting --pass work "
        "--pass tracing"
    )
    assert bool(found.worse) == (bool(misses) or calls > 1000)
    assert (stored_base.PARTS_UNJUDGED in found.warnings) == ("tracing" in phases)
    assert ("a" * 40, "b" * 40) in found.warnings  # type: ignore[comparison-overlap]


class _Subjects:
    def __init__(self, subject: object) -> None:
        self.parse = lambda *_, **__: subject
