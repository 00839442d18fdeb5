"""The probe on waiting: what a thread waits for, without CPUs and other processes."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from observatory.benchmarks.probes import waiting
from observatory.benchmarks.probes.waiting import Waiting, idle_time

WAITS = [sys.executable, "-S", "-c", "import time; time.sleep(0.5)"]
counted = pytest.mark.skipif(idle_time() is None, reason="this kernel does not count it")


@pytest.mark.parametrize(
    ("told", "waited"),
    [("2000000000 500000000 7\n", 7.5), ("0 0 0\n", None), ("", None), ("a b c", None)],
)
def test_a_thread_waited_while_it_neither_ran_nor_could_run(
    monkeypatch: pytest.MonkeyPatch, told: str, waited: float | None
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: told)
    monkeypatch.setattr(time, "perf_counter", lambda: 10.0)
    assert idle_time() == waited


def test_a_system_that_does_not_tell_has_no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_SCHEDSTAT", Path("/nowhere"))
    probe = Waiting()
    with probe.running():
        subprocess.run([sys.executable, "-S", "-c", ""], check=True)
    assert probe.seconds is None


@counted
def test_a_sleep_is_waiting() -> None:
    probe = Waiting()
    with probe.running():
        time.sleep(0.05)
    assert probe.seconds is not None
    assert probe.seconds > 0.04


@counted
def test_the_wait_for_another_process_is_left_out() -> None:
    """The child sleeps for 2 s in all; that of the thread itself is counted."""
    probe = Waiting()
    with probe.running():
        subprocess.run(WAITS, check=True)
        subprocess.check_output(WAITS)
        with subprocess.Popen(WAITS) as started:
            started.wait()
        with subprocess.Popen(WAITS, stdout=subprocess.PIPE) as started:
            started.communicate()
        time.sleep(0.1)
    assert probe.seconds is not None
    assert 0.09 <= probe.seconds < 1


@counted
def test_the_wait_of_another_thread_for_a_process_leaves_out_nothing() -> None:
    probe = Waiting()
    with probe.running(), ThreadPoolExecutor(1) as threads:
        waits = threads.submit(subprocess.run, WAITS, check=True)
        waits.result()
    assert probe.seconds is not None
    assert probe.seconds >= 0.49


def test_a_block_that_raises_has_no_seconds_and_popen_is_as_before() -> None:
    before = dict(vars(subprocess.Popen))
    probe = Waiting()
    with probe.running():
        time.sleep(0.05)
    with pytest.raises(ValueError, match="of the build"), probe.running():
        raise ValueError("of the build")
    assert dict(vars(subprocess.Popen)) == before
    assert probe.seconds is None
