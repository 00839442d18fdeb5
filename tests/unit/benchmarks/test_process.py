"""What the system reports about a process."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from observatory.benchmarks.probes.process import waiting_time

SCHEDSTAT = Path("/proc/thread-self/schedstat")


@pytest.mark.parametrize(
    ("told", "waited"),
    [("2000000000 500000000 7\n", 7.5), ("0 0 0\n", None), ("", None), ("a b c", None)],
)
def test_a_thread_waited_while_it_neither_ran_nor_could_run(
    monkeypatch: pytest.MonkeyPatch, told: str, waited: float | None
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: told)
    assert waiting_time(10.0) == waited


def test_a_system_that_does_not_tell_has_no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Path) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    assert waiting_time(10.0) is None


@pytest.mark.skipif(not SCHEDSTAT.exists(), reason="this kernel does not count it")
def test_a_sleep_is_waiting() -> None:
    before = waiting_time(time.perf_counter())
    time.sleep(0.05)
    after = waiting_time(time.perf_counter())
    assert before is not None
    assert after is not None
    assert after - before > 0.04
