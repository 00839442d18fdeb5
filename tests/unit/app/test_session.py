"""A run that goes on: what it keeps, and what it may not."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from observatory.app import session as module
from observatory.app.session import Session, take_samples
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.store.records.sample import Sample
from tests.factories import WARM, header, sample

COLD = Cell("radon", "cold", "NUMBA", "fork")
TASKS = plan([COLD, WARM], Rounds(timing=0, counting=1))
"""One that fills a cache, and one that starts from it."""


Run = Callable[..., list[tuple[Task, Path]]]


class Environment:
    versions = header().versions
    key = "environment"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Take the samples, until the first is there or all are; which, and where filled caches lie."""

    def _run(
        cpu: str, interrupted: bool, plan: str = "full", deadline: float = math.inf,
        said: list[str] | None = None,
    ) -> list[tuple[Task, Path]]:  # fmt: skip
        said = [] if said is None else said
        taken: list[tuple[Task, Path]] = []

        class Executor:
            def __init__(self, _: object, caches: Path, *__: object) -> None:
                self.caches = caches

            def holds(self, cache: str) -> bool:
                return (self.caches / cache).is_dir()

            def run(self, task: Task) -> Sample:
                if interrupted and taken:
                    raise KeyboardInterrupt
                taken.append((task, self.caches))
                if task.keep is not None:
                    (self.caches / task.keep).mkdir()
                return sample(task.cell, task.measure)

            def cancel(self) -> None:
                pass

        monkeypatch.setattr(module, "Executor", Executor)
        monkeypatch.setattr(module, "measuring_lock", lambda _: contextlib.nullcontext())
        under = header(cpu=cpu)
        where = tmp_path / "results", tmp_path / "state"
        session = Session(
            plan, *where, under.machine, resume=True, deadline=deadline,
            progress=lambda update: said.append(update.text),
        )  # fmt: skip
        with contextlib.suppress(KeyboardInterrupt):
            take_samples(session, under.subject, Environment(), TASKS)  # type: ignore[arg-type]
        return taken

    return _run


def test_a_run_goes_on_from_the_caches_that_it_has_filled(run: Run) -> None:
    (filler,) = run("Some CPU", True)
    assert filler[0].keep is not None
    (rest,) = run("Some CPU", False)
    assert rest[0].cell == WARM
    assert rest[1] == filler[1]


def test_machine_code_of_another_cpu_is_nothing_to_start_from(run: Run) -> None:
    (filler,) = run("Some CPU", True)
    again, rest = run("Other CPU", False)
    assert (again[0].cell, rest[0].cell) == (COLD, WARM)
    assert again[1] == rest[1] != filler[1]


def test_a_run_of_another_plan_is_not_what_it_goes_on_with(run: Run) -> None:
    """A canary between two halves of a history has all its samples, and the history has not."""
    (filler,) = run("Some CPU", True)
    assert len(run("Some CPU", False, "canary")) == len(TASKS)
    (rest,) = run("Some CPU", False)
    assert rest[0].cell == WARM
    assert rest[1] == filler[1]


def test_what_a_budget_leaves_is_said_and_a_later_run_takes_it(run: Run) -> None:
    said: list[str] = []
    left = "3.3.7: the budget ended before 2 samples; --resume takes them"
    assert run("Some CPU", False, deadline=0.0, said=said) == []
    assert said.count(left) == 1
    assert len(run("Some CPU", False, said=said)) == 2
    assert said.count(left) == 1


def test_one_sample_is_not_many() -> None:
    assert module.Tally(taken=1).sentence() == "1 sample."
    assert module.Tally(taken=52, wrong=1).sentence().startswith("52 samples, 1 ")
