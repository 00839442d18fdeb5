"""Lines of batches: what begins when, what runs beside what, and what an exception leaves."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.run.batches import Batch, Line, carry_out
from observatory.store.records.sample import Sample
from tests.factories import WARM, sample

TAKEN = sample(WARM)


@dataclass
class Stage:
    """Makes lines of numbered jobs, and notes what happens."""

    log: list[str] = field(default_factory=list)
    waits: dict[str, threading.Event] = field(default_factory=dict)
    """Jobs that end when this is set."""
    sets: dict[str, threading.Event] = field(default_factory=dict)
    """Jobs that set this."""
    broken: str = ""
    pause: float = 0.0
    cancelled: int = 0
    running: int = 0
    most: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def line(self, name: str, *sizes: int, at_once: int = 9) -> Line:
        self.log.append(f"{name} opens")
        try:
            for number, size in enumerate(sizes):
                jobs = [f"{name}{number}{job}" for job in range(size)]
                yield Batch(iter(jobs), self.take, self.cancel, self.began, self.ended, at_once)
            self.log.append(f"{name} ends")
        finally:
            assert not any(one[0] == name for one in self.under_way())
            self.log.append(f"{name} closes")

    def under_way(self) -> set[str]:
        began = {one.split()[1] for one in self.log if one.startswith("began")}
        return began - {one.split()[1] for one in self.log if one.startswith("over")}

    def take(self, job: str) -> Sample:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        if job in self.sets:
            self.sets[job].set()
        if job in self.waits:
            assert self.waits[job].wait(60)
        time.sleep(self.pause)  # so that another one that may run beside it does
        with self._lock:
            self.running -= 1
            self.log.append(f"over {job}")
        if job == self.broken:
            raise RuntimeError(job)
        return TAKEN

    def cancel(self) -> None:
        self.cancelled += 1
        for event in self.waits.values():
            event.set()

    def began(self, job: str) -> None:
        self.log.append(f"began {job}")

    def ended(self, job: str, _: Sample) -> None:
        self.log.append(f"ended {job}")

    def place(self, *wanted: str) -> list[int]:
        return [self.log.index(one) for one in wanted]


def in_order(places: Iterable[int]) -> bool:
    places = list(places)
    return places == sorted(places)


def test_a_batch_begins_when_the_one_before_it_has_ended() -> None:
    stage = Stage()
    carry_out([stage.line("a", 2, 1)], workers=2)
    assert in_order(stage.place("ended a00", "began a10"))
    assert in_order(stage.place("ended a01", "began a10", "ended a10", "a ends"))


def test_a_line_with_one_job_leaves_a_worker_to_the_next_one() -> None:
    """Only so can a00 end at all."""
    together = threading.Event()
    stage = Stage(waits={"a00": together}, sets={"b00": together})
    carry_out([stage.line("a", 1, 2), stage.line("b", 1)], workers=2, at_once=2)
    assert in_order(stage.place("began a00", "b opens", "ended a00", "began a10"))


def test_the_first_line_comes_first_and_the_next_one_is_opened_only_when_it_is_needed() -> None:
    stage = Stage()
    carry_out([stage.line("a", 3), stage.line("b", 1)], workers=1, at_once=2)
    assert in_order(stage.place("ended a01", "began a02", "a ends", "b opens"))


def test_no_more_lines_are_open_than_allowed() -> None:
    stage = Stage()
    carry_out([stage.line("a", 1), stage.line("b", 1)], workers=2, at_once=1)
    assert in_order(stage.place("a closes", "b opens"))


def test_a_batch_runs_no_more_at_once_than_it_says() -> None:
    stage = Stage(pause=0.01)
    carry_out([stage.line("a", 8, at_once=1)], workers=4)
    assert stage.most == 1


def test_a_broken_job_ends_what_runs_and_closes_every_line() -> None:
    never = threading.Event()
    stage = Stage(waits={"a00": never}, sets={}, broken="b00")
    with pytest.raises(RuntimeError, match="b00"):
        carry_out([stage.line("a", 1), stage.line("b", 1), stage.line("c", 1)], 2, at_once=3)
    assert stage.cancelled == 2
    assert in_order(stage.place("over a00", "b closes", "a closes"))
    assert "c opens" not in stage.log


def test_an_error_of_a_line_is_raised_after_the_others_are_closed() -> None:
    def broken() -> Line:
        raise OSError("the disk is full")
        yield

    stage = Stage()
    with pytest.raises(OSError, match="the disk is full"):
        carry_out([stage.line("a", 1), broken()], workers=2, at_once=2)
    assert stage.cancelled
    assert stage.log[-1] == "a closes"


@given(
    st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=5),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_every_job_is_taken_once(sizes: list[list[int]], workers: int, at_once: int) -> None:
    stage = Stage()
    lines = [stage.line("abcde"[place], *one) for place, one in enumerate(sizes)]
    carry_out(lines, workers, at_once)
    ended = sorted(one for one in stage.log if one.startswith("ended"))
    assert ended == sorted(
        f"ended {'abcde'[place]}{number}{job}"
        for place, one in enumerate(sizes)
        for number, size in enumerate(one)
        for job in range(size)
    )
    assert stage.most <= workers
    assert sum(one.endswith("closes") for one in stage.log) == len(sizes)
