"""What becomes of a sample that a worker of a cluster took, on its way into the journal."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from observatory.app.taking import Journals, take_samples
from observatory.benchmarks.plan import Task
from observatory.store.journal.models import LARGEST_LINE, JournalError
from observatory.store.journal.writer import Journal
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Sample
from tests import fleet_client
from tests.factories import RUN, WARM, header, sample

TASK = Task(WARM, "timing", 0)


class Fleet:
    """Takes samples on this machine, and notes which ones are accepted."""

    def __init__(self) -> None:
        self.accepted: list[Sample] = []

    def machine_of(self, _: Sample) -> Machine:
        return header().machine

    def accept(self, one: Sample) -> None:
        self.accepted.append(one)

    def run(self, _: Task) -> Sample:
        raise NotImplementedError

    def cancel(self) -> None:
        raise NotImplementedError

    def holds(self, _: str) -> bool:
        raise NotImplementedError


def test_a_worker_may_forget_a_sample_only_once_it_is_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet, one, journals = Fleet(), sample(), Journals(tmp_path, header())
    journals.append(RUN, TASK, one, fleet)
    assert fleet.accepted == [one]

    def full(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Journal, "append", full)
    with pytest.raises(OSError, match="full"):
        journals.append(RUN, TASK, sample(), fleet)
    assert fleet.accepted == [one]


def test_a_sample_that_the_journal_refuses_is_a_failed_one(tmp_path: Path) -> None:
    fleet, journals = Fleet(), Journals(tmp_path, header())
    large = sample(environment={f"{i}": "x" * 4000 for i in range(LARGEST_LINE // 4000 + 1)})
    failed = journals.append(RUN, TASK, large, fleet)
    assert failed.status == "raised"
    assert failed.failure is not None
    assert failed.failure.message.startswith("the sample cannot be recorded: a sample of")
    (entry,) = journals.own.read().entries
    assert entry.sample == failed
    assert fleet.accepted == [large], "its worker may forget it"


def test_a_journal_of_another_subject_takes_no_failure_either(tmp_path: Path) -> None:
    other = header(requirements=("pytensor==3.3.6",))
    Journal.of(tmp_path, other).append(RUN, sample())
    with pytest.raises(JournalError, match="give another results directory"):
        Journals(tmp_path, header()).append(RUN, TASK, sample(), Fleet())


class Reached(Exception):
    """The fleet was asked for what takes the samples of a run."""


def test_a_fleet_takes_samples_for_the_run_that_is_continued(tmp_path: Path) -> None:
    """A worker records them, too: under another run, they would be there twice."""
    asked: list[str] = []

    class Asked(Fleet):
        workers = 1

        def placing(self) -> None:
            return None

        def lock(self, _: object) -> contextlib.AbstractContextManager[None]:
            return contextlib.nullcontext()

        def samples(self, _: Path, run: str, *__: object, **___: object) -> None:
            asked.append(run)
            raise Reached

    own = fleet_client.session(tmp_path, resume=True)
    tasks = fleet_client.tasks()
    done = sample(tasks[0].cell, tasks[0].measure)
    head = header().model_copy(update={"machine": own.machine})
    Journal.of(tmp_path / "results", head).append(f"{RUN}-fake", done)
    session = replace(own, fleet=Asked())  # type: ignore[arg-type]
    with pytest.raises(Reached):
        take_samples(session, head.subject, fleet_client.environment(tmp_path / "env"), tasks)
    assert asked == [f"{RUN}-fake"]


def test_where_there_is_no_run_to_continue_a_new_one_begins_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []

    class Ended(Exception):
        pass

    def told(update: object) -> None:
        said.append(str(update))
        if "no run to continue" in said[-1]:
            raise Ended

    own = replace(fleet_client.session(tmp_path, resume=True), progress=told)
    with pytest.raises(Ended):
        take_samples(own, header().subject, fleet_client.environment(tmp_path / "env"), [])
