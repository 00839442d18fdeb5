"""What a recorded run of the tests says of them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil

from scripts.docs.rows import now
from scripts.docs.suite_tables import SuiteRun, suite_runs
from scripts.suite_run import run

ROOT = Path(__file__).parents[3]
TESTS = """
import os, pytest
def test_passes(): pass
def test_fails(): assert os.environ["KILLS"] != "7"
def test_is_skipped(): pytest.skip("no reason")
@pytest.fixture
def broken(): raise OSError
def test_has_an_error(broken): pass
@pytest.fixture
def breaking():
    yield
    raise OSError
def test_fails_twice(breaking): raise ValueError
"""


def test_a_run_counts_what_passed_failed_and_was_skipped(tmp_path: Path) -> None:
    path = tmp_path / "test_five.py"
    path.write_text(TESTS)
    row, status = run([str(path)], workers=1, loops=1, kills=7)
    assert (row.passed, row.failed, row.skipped, status) == (1, 3, 1, 1)
    assert (row.loops, row.kills, row.workers) == (1, 7, 1)


_ENDED_OUTRIGHT = """
import os
import psutil
from scripts.suite_run import busy

with busy(2):
    print(*[one.pid for one in psutil.Process().children()], flush=True)
    os._exit(0)
"""


def test_busy_loops_end_with_whoever_started_them() -> None:
    command = [sys.executable, "-c", _ENDED_OUTRIGHT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loops = [int(word) for word in done.stdout.split()]
    assert len(loops) == 2
    until = time.monotonic() + 120
    while left := [one for one in loops if runs(one)]:
        assert time.monotonic() < until, left
        time.sleep(0.05)


def runs(number: int) -> bool:
    try:
        return psutil.Process(number).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_of_the_same_tests_and_load_the_newest_run_is_shown() -> None:
    def one(passed: int, loops: int) -> SuiteRun:
        return SuiteRun(
            taken=now(), commit="abc", paths=(), workers=2, loops=loops, kills=None,
            passed=passed, failed=0, skipped=0, seconds=60,
        )  # fmt: skip

    table = next(iter(suite_runs([one(1, 6), one(2, 6), one(3, 0)])))
    assert "| all | 2 | 6 busy loops | as in `make test` | 2 |" in table
    assert "| all | 2 | - | as in `make test` | 3 |" in table
    assert "| 1 |" not in table
