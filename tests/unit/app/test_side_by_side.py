"""Several subjects of one run: which are measured at once, and what they share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from observatory.app import measurement
from observatory.app import session as module
from observatory.app.measurement import canary, measure_subjects
from observatory.app.session import Session
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.errors import Exit
from observatory.run.environments import Environment, EnvironmentMakingError
from observatory.run.presets import Narrowed
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from tests.factories import header, sample, subject

COLD = Cell("radon", "cold", "NUMBA", "spawn")
SUBJECTS = [subject(label) for label in ("3.3.6", "3.3.7", "3.3.8")]
BOTH = 60.0


class Bench:
    """Takes samples that wait until two run at once, or for a moment if they are alone."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.pairs = 0
        self.failing = ""
        self.waits = 0.02
        self._running = 0
        self._changed = threading.Condition()

    def executor(self, environment: Environment, *_: object, **__: object) -> Bench:
        return self

    def holds(self, _: str) -> bool:
        return False

    def run(self, task: Task) -> Sample:
        with self._changed:
            self._running += 1
            self.pairs += self._running > 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.pairs > 0, self.waits)
            self._running -= 1
        return sample(task.cell, task.measure)

    def cancel(self) -> None:
        pass

    @contextlib.contextmanager
    def lock(self, _: Callable[[str], None]) -> Iterator[None]:
        self.events.append("locked")
        yield
        self.events.append("released")

    def environment(self, one: Subject, _: object = ()) -> Environment:
        self.events.append(one.label)
        if one.label == self.failing:
            raise EnvironmentMakingError(f"no environment for {one.label}")
        return Environment(Path("python"), header(one.label).versions, one.label, Path())


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench()
    monkeypatch.setattr(module, "Executor", made.executor)
    monkeypatch.setattr(module, "measuring_lock", made.lock)
    monkeypatch.setattr(Session, "environment", made.environment)
    return made


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session("own", tmp_path / "results", tmp_path / "state", header().machine, workers=2)


def planned(monkeypatch: pytest.MonkeyPatch, **rounds: int) -> None:
    tasks = plan([COLD], Rounds(**({"timing": 0, "counting": 1} | rounds)))
    monkeypatch.setattr(measurement, "chosen_tasks", lambda *_: tasks)
    monkeypatch.setattr(measurement.fitness, "busy", lambda: "")


def test_subjects_that_are_only_counted_are_measured_at_once_under_one_lock(
    session: Session, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(monkeypatch)
    bench.waits = BOTH  # it ends only if two run at once
    found = measure_subjects(session, SUBJECTS, Narrowed())
    assert found.tally.taken == 3
    assert bench.pairs
    assert bench.events[:3] == ["3.3.6", "locked", "3.3.7"]
    for one in SUBJECTS:
        path = layout.journal_path(session.results, session.machine.machine, one)
        assert [entry.sample.cell for entry in read_journal(path).entries] == [COLD]


def test_times_are_taken_of_one_subject_after_another(
    session: Session, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(monkeypatch, timing=1, counting=0)
    measure_subjects(session, SUBJECTS, Narrowed())
    assert bench.pairs == 0
    assert bench.events == [
        word for one in SUBJECTS for word in (one.label, "locked", "released")
    ]  # fmt: skip


def test_a_subject_without_an_environment_does_not_keep_others_from_being_measured(
    session: Session, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(monkeypatch)
    bench.failing = "3.3.7"
    found = measure_subjects(session, SUBJECTS, Narrowed())
    assert (found.tally.taken, found.tally.without_environment) == (2, 1)
    assert found.exit_code == Exit.ENVIRONMENT


def test_a_canary_judges_one_subject_after_another(
    session: Session, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(monkeypatch)
    bench.failing = "3.3.7"
    judged: list[tuple[str, int]] = []
    status = canary(
        session, SUBJECTS, Narrowed(), lambda label, found: judged.append((label, len(found)))
    )
    assert judged == [("3.3.6", 1), ("3.3.8", 1)]
    assert status == Exit.UNDECIDED
    assert bench.pairs == 0
