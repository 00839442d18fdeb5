"""The scheduler: order, exclusiveness, recording, cancelling, resuming."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from observatory.benchmarks.plan import Task
from observatory.run import batches
from observatory.run.presets import PRESETS, Narrowed, tasks_of
from observatory.run.schedule import Estimate, TakesSamples, batches_of, expected_seconds, remaining
from observatory.store.records.sample import Sample
from tests.factories import sample

TASKS = tasks_of(
    PRESETS["quick"], Narrowed(backends=["C", "NUMBA"], scenarios=["cold", "warm_disk"])
)


@dataclass
class Fake:
    """Takes samples at once, and notes what ran beside what."""

    fails: Callable[[Task], bool] = lambda _: False
    begun: list[Task] = field(default_factory=list)
    beside: list[tuple[Task, list[Task]]] = field(default_factory=list)
    cancelled: bool = False
    _running: list[Task] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _pair: threading.Event = field(default_factory=threading.Event)

    def holds(self, cache: str) -> bool:
        return False

    def run(self, task: Task) -> Sample:
        with self._lock:
            self.begun.append(task)
            self._running.append(task)
            self.beside.append((task, [t for t in self._running if t is not task]))
            if len(self._running) > 1:
                self._pair.set()
        if task.measure != "timing":
            self._pair.wait(0.05)  # give a second one the time to begin
        with self._lock:
            self._running.remove(task)
        if self.fails(task):
            raise RuntimeError("broken")
        return sample(task.cell, measure=task.measure)

    def cancel(self) -> None:
        self.cancelled = True


def carry_out(tasks: list[Task], fake: TakesSamples, *given: Any, **options: Any) -> None:
    """Carry out the tasks of one subject with two workers; ``given``: as `batches_of` takes it."""
    batches.carry_out([batches_of(tasks, fake, *given, **options)], 2)


def run_all(fake: Fake, tasks: list[Task] = TASKS, workers: int = 2) -> list[Sample]:
    recorded: list[Sample] = []
    carry_out(tasks, fake, lambda _: None, lambda _, taken: recorded.append(taken), workers)
    return recorded


def test_every_task_is_recorded_once() -> None:
    assert len(run_all(Fake())) == len(TASKS)


def test_a_timed_sample_runs_with_nothing_beside_it() -> None:
    fake = Fake()
    run_all(fake)
    assert all(others == [] for task, others in fake.beside if task.measure == "timing")


def test_counting_samples_run_side_by_side() -> None:
    fake = Fake()
    run_all(fake)
    assert any(others for task, others in fake.beside if task.measure == "counting")


def test_nobody_starts_from_a_cache_before_it_is_filled() -> None:
    recorded: list[str] = []
    begun_with: list[bool] = []
    fake = Fake()

    def began(task: Task) -> None:
        if task.cache is not None:
            begun_with.append(task.cache in recorded)

    def ended(task: Task, _: Sample) -> None:
        if task.keep is not None:
            recorded.append(task.keep)

    carry_out(TASKS, fake, began, ended, 2)
    assert begun_with
    assert all(begun_with)


def test_a_sample_is_recorded_before_the_next_timed_one_begins() -> None:
    fake = Fake()
    log: list[str] = []
    timed = [t for t in TASKS if t.measure == "timing"]
    carry_out(
        timed,
        fake,
        lambda _: log.append("begins"),
        lambda _, taken: log.append("recorded"),
        2,
    )
    assert log == ["begins", "recorded"] * len(timed)


def test_an_error_ends_the_samples_under_way_and_is_not_swallowed() -> None:
    fake = Fake(fails=lambda task: task.measure == "timing")
    with pytest.raises(RuntimeError, match="broken"):
        run_all(fake)
    assert fake.cancelled
    assert sum(t.measure == "timing" for t in fake.begun) == 1


def test_an_interrupt_while_recording_ends_the_samples_under_way() -> None:
    fake = Fake()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out(TASKS, fake, lambda _: None, interrupted, 2)
    assert fake.cancelled


def test_no_task_begins_after_the_deadline() -> None:
    fake, recorded = Fake(), []
    late = time.monotonic() - 1
    carry_out(TASKS, fake, lambda _: None, lambda _, one: recorded.append(one), 2, late)
    assert (fake.begun, recorded) == ([], [])


def test_a_resumed_run_takes_only_what_is_left(tmp_path: Path) -> None:
    taken = [sample(t.cell, measure=t.measure) for t in TASKS[:-3]]
    for task in TASKS:
        if task.keep:
            (tmp_path / task.keep).mkdir()
    assert remaining(TASKS, taken, lambda one: (tmp_path / one).is_dir()) == TASKS[-3:]


def test_a_resumed_run_fills_a_cache_again_that_is_gone(tmp_path: Path) -> None:
    taken = [sample(t.cell, measure=t.measure) for t in TASKS[:-1]]
    last = TASKS[-1]
    left = remaining(TASKS, taken, lambda one: (tmp_path / one).is_dir())
    assert [t.keep for t in left[:-1]] == [last.cache]
    assert left[-1] == last


def test_repetitions_are_counted_not_only_seen() -> None:
    tasks = tasks_of(PRESETS["quick"], Narrowed(backends=["C"], scenarios=["cold"], timing=3))
    timed = next(t for t in tasks if t.measure == "timing")
    taken = [sample(timed.cell, measure="timing")]
    left = [t for t in remaining(tasks, taken, lambda _: False) if t.cell == timed.cell]
    assert sum(t.measure == "timing" for t in left) == 2


@pytest.mark.parametrize("preset", PRESETS)
def test_every_task_of_every_preset_has_an_expectation(preset: str) -> None:
    assert all(expected_seconds(t) > 0 for t in tasks_of(PRESETS[preset], Narrowed()))


def test_a_machine_twice_as_slow_doubles_what_is_left_in_the_end() -> None:
    tasks = tasks_of(PRESETS["quick"], Narrowed())
    usual, slow = Estimate(tasks, 2), Estimate(tasks, 2)
    for task in tasks[:40]:
        usual.finished(task, expected_seconds(task))
        slow.finished(task, 2 * expected_seconds(task))
    assert slow.seconds_left() / usual.seconds_left() == pytest.approx(2, rel=0.1)


def test_nothing_is_left_when_all_is_done() -> None:
    tasks = tasks_of(PRESETS["quick"], Narrowed())
    estimate = Estimate(tasks, 2)
    for task in tasks:
        estimate.finished(task, 1.0)
    assert estimate.seconds_left() == 0


@dataclass
class Turns:
    """The turn of a run that is over before every third task."""

    fake: Fake
    given: list[int] = field(default_factory=list)

    def is_over(self) -> bool:
        begun = len(self.fake.begun)
        return begun > 0 and begun % 3 == 0 and begun not in self.given

    def give_way(self) -> None:
        assert not self.fake._running
        self.given.append(len(self.fake.begun))


def test_a_run_gives_way_between_samples_and_loses_none() -> None:
    fake = Fake()
    turn = Turns(fake)
    recorded: list[Sample] = []
    carry_out(
        TASKS, fake, lambda _: None, lambda _, taken: recorded.append(taken), 1, turn=turn
    )  # fmt: skip
    assert len(recorded) == len(TASKS)
    assert turn.given == list(range(3, len(TASKS), 3))


@dataclass
class Slow:
    """Two samples at a time, of which the second ends only after somebody has asked for a turn."""

    begun: list[Task] = field(default_factory=list)
    both: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)
    running: int = 0
    given: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def holds(self, cache: str) -> bool:
        return False

    def run(self, task: Task) -> Sample:
        with self._lock:
            self.begun.append(task)
            self.running += 1
            place = len(self.begun)
        if place == 1:
            self.both.wait(60)
        elif place == 2:
            self.both.set()
            self.asked.wait(60)
        with self._lock:
            self.running -= 1
        return sample(task.cell, measure=task.measure)

    def cancel(self) -> None:
        self.both.set()
        self.asked.set()

    def is_over(self) -> bool:
        over = bool(self.begun) and not self.given
        if over:
            threading.Timer(0.05, self.asked.set).start()
        return over

    def give_way(self) -> None:
        assert self.running == 0
        self.given += 1


def test_it_gives_way_only_when_what_runs_has_ended() -> None:
    slow = Slow()
    recorded: list[Sample] = []
    carry_out(
        TASKS, slow, lambda _: None, lambda _, taken: recorded.append(taken), 2, turn=slow
    )  # fmt: skip
    assert (len(recorded), slow.given) == (len(TASKS), 1)
