from __future__ import annotations

import argparse
import json
import os
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from scripts import benchmark_commits
from scripts.benchmark_commits import main
from tests.factories_git import git as git_in

_UV = f"""
import pathlib, sys
words = sys.argv[1:]
if words[0] == "venv":
    place = pathlib.Path(words[-1], "bin")
    place.mkdir(parents=True)
    (place / "python").symlink_to({sys.executable!r})
elif pathlib.Path("broken").exists():
    sys.exit("it cannot be built")
"""
_TESTS = """
from pathlib import Path
def test_good(benchmark):
    benchmark(sum, [1])
def test_other(benchmark):
    assert not Path("bad").exists()
    benchmark(sum, [1])
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[str]]:
    """Four commits: good, with a test that fails, one that cannot be installed, good."""
    where = tmp_path / "clone"
    where.mkdir()

    git = partial(git_in, where)
    git("init", "--quiet", "--initial-branch=main")
    (where / "bench").mkdir()
    (where / "bench" / "test_x.py").write_text(_TESTS)
    for name in ("", "bad", "broken", ""):
        for one in ("bad", "broken"):
            (where / one).unlink(missing_ok=True)
        if name:
            (where / name).touch()
        git("add", ".")
        git("commit", "--quiet", "--allow-empty", "-m", name or "good")
    (tmp_path / "uv.py").write_text(_UV)
    quick = (
        "--benchmark-max-time=0.001 --benchmark-min-rounds=1 --benchmark-calibration-precision=1"
    )
    for name in [one for one in os.environ if one.startswith("PYTEST_XDIST")]:
        monkeypatch.delenv(name)  # beside other tests, pytest-benchmark measures nothing
    monkeypatch.setenv("PYTEST_ADDOPTS", f"{quick} -p no:cacheprovider")
    monkeypatch.setattr(benchmark_commits, "_UV", (sys.executable, str(tmp_path / "uv.py")))
    return where, git("rev-list", "--reverse", "main").split()


def measured(tmp_path: Path, where: Path, last: str, *more: str) -> int:
    """Measure the commits since ``last``, which has results; returns the exit status."""
    stored = tmp_path / "stored" / "bench"
    stored.mkdir(parents=True)
    (stored / f"{last[:8]}-pytest-benchmark-py3.13.json").write_text(json.dumps({
        "commit_hash": last, "env_name": "pytest-benchmark-py3.13", "date": 0, "params": {},
        "version": 2, "python": "3.13", "result_columns": ["result"], "results": {},
    }))  # fmt: skip
    return main([
        "--repo", str(where), "--stored", str(stored.parent), "--results", str(tmp_path / "shard"),
        "--tests", "bench", "--machine", "bench", "--summary", str(tmp_path / "summary.md"), *more,
    ])  # fmt: skip


def test_a_failing_test_and_a_broken_commit_lose_nothing_of_the_others(
    clone: tuple[Path, list[str]], tmp_path: Path
) -> None:
    where, commits = clone
    (where / "bench" / "test_x.py").write_text("not committed")
    (where / "notes.txt").write_text("mine")
    assert measured(tmp_path, where, commits[0]) == 4
    assert (where / "bench" / "test_x.py").read_text() == "not committed"
    assert (where / "notes.txt").read_text() == "mine"
    assert git_in(where, "worktree", "list").count("\n") == 0
    made = {path.name[:8]: json.loads(path.read_text())["results"]
            for path in (tmp_path / "shard" / "bench").glob("*-pytest-*.json")}  # fmt: skip
    assert made.keys() == {commits[1][:8], commits[3][:8]}
    assert [len(made[one[:8]]) for one in (commits[1], commits[3])] == [1, 2]
    said = (tmp_path / "summary.md").read_text()
    assert f"3 commits to measure since {commits[0][:10]}" in said
    assert f"{commits[1][:10]}: 1 benchmarks; others failed: pytest ended with status 1." in said
    assert f"{commits[2][:10]} was not measured" in said
    assert f"{commits[3][:10]}: 2 benchmarks." in said


def test_a_commit_gets_half_of_the_time_that_is_left_and_the_last_one_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, shares = 0.0, []

    def measured_for(_commit: str, _options: argparse.Namespace, share: float) -> int:
        nonlocal now
        shares.append(share)
        now += share if len(shares) == 1 else 10  # the first one hangs
        return 0

    monkeypatch.setattr(benchmark_commits, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(benchmark_commits, "_measured", measured_for)
    options = argparse.Namespace(budget=120.0)
    assert list(benchmark_commits._all_measured(["a", "b", "c"], options)) == [0, 0, 0]
    assert shares == [60, 30, 50]


def test_what_hangs_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    starts = "import subprocess as s; s.run(['sh', '-c', 'echo $$ > began; exec sleep 600'])"
    command = [sys.executable, "-c", starts]
    until = time.monotonic() + 1
    while not (began := tmp_path / "began").exists() or not began.read_text():
        assert benchmark_commits._status(command, tmp_path, until) is None
        until += 10  # the machine is busy
    with suppress(psutil.NoSuchProcess):
        child = psutil.Process(int(began.read_text()))
        for _ in range(600):  # a killed process ends a moment later
            if child.status() == psutil.STATUS_ZOMBIE:
                return
            time.sleep(0.1)
        child.kill()
        pytest.fail("what the command had started was still there a minute later")


def test_a_commit_whose_tests_hang_has_no_results_which_is_said(
    clone: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, commits = clone
    hangs = lambda words, *_: None if "--benchmark-only" in words else 0  # noqa: E731
    monkeypatch.setattr(benchmark_commits, "_status", hangs)
    assert measured(tmp_path, where, commits[2], "--budget", "10m") == 4
    said = (tmp_path / "summary.md").read_text()
    assert f"{commits[3][:10]} has no results: pytest did not end within" in said
