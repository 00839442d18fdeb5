"""How long a call takes, by a clock that the called function turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from observatory.benchmarks import calls
from observatory.benchmarks.calls import seconds_a_call


@dataclass
class Clock:
    now: float = 0.0

    def read(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(calls.time, "perf_counter", clock.read)
    return clock


def taking(clock: Clock, seconds: Callable[[int], float]) -> Callable[[], None]:
    """A function whose n-th call takes so many seconds."""
    count = 0

    def function() -> None:
        nonlocal count
        clock.now += seconds(count)
        count += 1

    return function


def test_what_slows_most_of_the_time_is_no_part_of_a_call(clock: Clock) -> None:
    def speed(_: int) -> float:
        return 1e-3 if 0.3 < clock.now < 0.5 else 1.4e-3

    assert seconds_a_call(taking(clock, speed)).elapsed == pytest.approx(1e-3)


def test_what_one_call_in_twelve_costs_is_in_every_repeat(clock: Clock) -> None:
    function = taking(clock, lambda n: 2e-4 if n % 12 == 0 else 1e-4)
    assert seconds_a_call(function).elapsed == pytest.approx(13 / 12 * 1e-4, rel=0.01)


def test_what_a_call_waits_is_no_cpu_time(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls.time, "process_time", lambda: clock.now / 4)
    found = seconds_a_call(taking(clock, lambda _: 1e-3))
    assert (found.elapsed, found.cpu) == (pytest.approx(1e-3), pytest.approx(2.5e-4))
