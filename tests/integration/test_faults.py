"""Samples that die, hang or raise, on real PyTensor: recorded as such, and the run goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Rounds, plan
from observatory.run.batches import carry_out
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.run.schedule import batches_of
from observatory.store.records.sample import Sample
from tests.integration.conftest import borrowing
from tests.integration.test_sample import leftovers, processes_of

pytestmark = pytest.mark.integration

# Runs where the measured process begins to measure: after the fork, if there is one.
_HOOK = """
import os, signal, subprocess, sys, tempfile, time

def fault():
    kind = os.environ.get("TEST_FAULT", "")
    if kind == "segfault":
        import ctypes
        print("about to read address 0", file=sys.stderr, flush=True)
        ctypes.string_at(0)
    elif kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "raises":
        raise RuntimeError("the fault kit says no")
    elif kind == "exits":
        print("leaving early", file=sys.stderr, flush=True)
        os._exit(7)
    elif kind == "hangs":
        # A compiler that outlives its session, as one that daemonises itself would.
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                         start_new_session=True)
        time.sleep(600)
    elif kind == "cleans up at its end":
        class Scratch:
            def __init__(self):
                self.itself = self  # only the search for cycles at the end of Python finds it
                self.path = tempfile.mkstemp(prefix="scratch")[1]
            def __del__(self, remove=os.remove):
                remove(self.path)
        sys.modules["faults"].kept = Scratch()
        tempfile.mkstemp(prefix="witness")  # nobody removes it

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "benchmarks.scenarios":
            fault()
        return None

if os.environ.get("TEST_FAULT"):
    sys.meta_path.insert(0, Finder())
"""


@pytest.fixture(scope="module")
def faulty(newest: Environment, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment that borrows the packages of the real one and adds a start-up hook."""
    found, site = borrowing(newest, tmp_path_factory.mktemp("faulty") / "env")
    (site / "faults.py").write_text(_HOOK)
    (site / "faults.pth").write_text("import faults\n")
    return found


def take(
    faulty: Environment, scratch: Path, monkeypatch: pytest.MonkeyPatch, fault: str, launch: str
) -> Sample:
    monkeypatch.setenv("TEST_FAULT", fault)
    monkeypatch.setenv("TMPDIR", str(scratch))
    (task,) = plan([Cell("radon", "cold", "C", launch)], Rounds(1, 0))
    return Executor(faulty, scratch, timeout=6 if fault == "hangs" else 300).run(task)


LAUNCHES = pytest.mark.parametrize("launch", ["fork", "spawn"])


@LAUNCHES
@pytest.mark.parametrize(("fault", "name"), [("segfault", "SIGSEGV"), ("killed", "SIGKILL")])
def test_a_sample_that_dies_of_a_signal_is_recorded_with_its_name(
    faulty: Environment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    name: str,
    launch: str,
) -> None:
    found = take(faulty, tmp_path, monkeypatch, fault, launch)
    assert found.status == "killed"
    assert found.failure is not None
    assert found.failure.signal == name
    assert found.metrics == {"wrong_results": 0, "crashed": 1}
    assert name in found.absent["compile_time"]
    if fault == "segfault":
        assert any("about to read address 0" in line for line in found.failure.stderr)
    assert leftovers(tmp_path) == []


def test_what_a_process_removes_as_python_ends_is_not_counted_as_left_behind(
    faulty: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_FAULT", "cleans up at its end")
    (task,) = plan([Cell("radon", "cold", "C", "spawn")], Rounds(0, 1))
    found = Executor(faulty, tmp_path, timeout=300).run(task)
    assert [name for name in found.leaked if "witness" in name] != []
    assert [name for name in found.leaked if "scratch" in name] == []


@LAUNCHES
def test_a_sample_that_raises_is_recorded_with_the_end_of_its_traceback(
    faulty: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launch: str
) -> None:
    found = take(faulty, tmp_path, monkeypatch, "raises", launch)
    assert found.status == "raised"
    assert found.failure is not None
    assert found.failure.message == "RuntimeError: the fault kit says no"
    assert found.failure.stderr[-1] == "RuntimeError: the fault kit says no"


@LAUNCHES
def test_a_sample_that_leaves_without_a_report_is_recorded(
    faulty: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launch: str
) -> None:
    found = take(faulty, tmp_path, monkeypatch, "exits", launch)
    assert found.status == "raised"
    assert found.failure is not None
    assert found.failure.message == "exited with code 7 before it reported: leaving early"
    assert found.failure.exit_code == 7


@LAUNCHES
def test_a_sample_that_hangs_is_ended_with_the_grandchildren_that_left_its_session(
    faulty: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launch: str
) -> None:
    found = take(faulty, tmp_path, monkeypatch, "hangs", launch)
    assert found.status == "timeout"
    assert found.metrics["crashed"] == 1
    assert processes_of(tmp_path) == []
    assert leftovers(tmp_path) == []


def test_a_run_goes_on_after_a_sample_that_died(
    faulty: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_FAULT", "segfault")
    cells = [Cell("radon", "cold", "C", launch) for launch in ("fork", "spawn")]
    recorded: list[Sample] = []
    line = batches_of(
        plan(cells, Rounds(1, 1)),
        Executor(faulty, tmp_path, timeout=300),
        lambda _: None,
        lambda _, sample: recorded.append(sample),
        workers=2,
    )
    carry_out([line], workers=2)
    assert [sample.status for sample in recorded] == ["killed"] * 4


def test_a_primitive_that_prints_no_record_is_recorded_too(
    newest: Environment, tmp_path: Path
) -> None:
    (task,) = plan([Cell("radon", "cold", "C", "fork")], Rounds(1, 0))
    broken = replace(newest, importable=tmp_path)
    found = Executor(broken, tmp_path, timeout=300).run(task)
    assert found.status == "raised"
    assert found.failure is not None
    assert "without a valid record" in found.failure.message
    assert any("No module named" in line for line in found.failure.stderr)


def test_the_command_says_that_a_sample_failed_and_goes_on(
    observatory: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    # 1 s is enough for no build: every sample is ended, and all of them are tried.
    options = ("--preset", "quick", "--scenario", "cold", "--backend", "C", "--timeout", "1")
    done = observatory("run", *options, "--results", str(tmp_path / "results"))
    assert done.returncode == 3
    assert "4 FAILED" in done.stdout
    assert "did not end within 1 s" in done.stdout
    assert "CRASHED" in done.stdout
