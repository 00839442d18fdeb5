"""A run that goes on: what it keeps, and what it may not."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, tzinfo
from pathlib import Path

import pytest

from observatory.app import going_on
from observatory.app import session as module
from observatory.app.session import Session
from observatory.app.taking import Tally, take_samples
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.store.base.locking import locked_at_once
from observatory.store.journal import models
from observatory.store.records.sample import Sample
from tests.factories import WARM, header, journal, sample

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
            def __init__(self, _: object, caches: Path, *__: object, **___: object) -> None:
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
    assert Tally(taken=1).sentence() == "1 sample."
    assert Tally(taken=52, wrong=1).sentence().startswith("52 samples, 1 ")


def test_runs_that_begin_in_the_same_second_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Stopped:
            return cls(2026, 11, 20, 14, 30, tzinfo=tz)

    monkeypatch.setattr(models, "datetime", Stopped)
    runs = {models.new_run("canary-full") for _ in range(200)}
    assert len(runs) == 200
    assert {models.plan_of(run) for run in runs} == {"canary-full"}
    assert {run.partition("-")[0] for run in runs} == {"20261120T143000Z"}
    for run in runs:
        models.JournalLine(run=run, sample=sample())


def at_once(tmp_path: Path, resume: bool) -> AbstractContextManager[going_on.Run]:
    made = journal(tmp_path / "results", [sample()], run="20261120T143000Z-full")
    new = models.new_run("full")
    return going_on.only_here(made, new, resume, going_on.Place(tmp_path / "caches", "here"))


def test_a_run_is_continued_by_one_process_at_a_time(tmp_path: Path) -> None:
    with at_once(tmp_path, True) as first:
        assert (first.id, len(first.taken)) == ("20261120T143000Z-full", 1)
        with pytest.raises(going_on.RunningError) as refused, at_once(tmp_path, True):
            pass
        assert str(refused.value) == (
            f"process {os.getpid()} takes the samples of run 20261120T143000Z-full of 3.3.7: wait "
            "until it has ended, or leave out --resume to begin another run"
        )
        assert first.caches.is_dir()
        with at_once(tmp_path, False) as other:
            assert other.id != first.id
            assert other.caches != first.caches
        going_on.discard(other.caches)
        assert first.caches.is_dir()
    with at_once(tmp_path, True) as again:
        assert again.id == "20261120T143000Z-full"


def test_a_process_that_is_killed_holds_up_nobody(tmp_path: Path) -> None:
    holder = (
        "import sys; from pathlib import Path\n"
        "from observatory.store.base.locking import locked_at_once\n"
        "with locked_at_once(Path(sys.argv[1])) as ours: print(ours, flush=True); sys.stdin.read()"
    )
    where = tmp_path / "caches" / "20261120T143000Z-full" / "here"
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(where)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"True\n"
        with pytest.raises(going_on.RunningError), at_once(tmp_path, True):
            pass
        process.kill()
        process.wait()
        with at_once(tmp_path, True) as run:
            assert run.caches == where


def test_a_directory_that_its_holder_removed_is_made_again(tmp_path: Path) -> None:
    with locked_at_once(tmp_path / "a" / "b") as ours:
        assert ours
        shutil.rmtree(tmp_path / "a")
        with locked_at_once(tmp_path / "a" / "b") as again:
            assert again
            assert (tmp_path / "a" / "b").is_dir()
