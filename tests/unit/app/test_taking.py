"""What becomes of a sample that a worker of a cluster took, on its way into the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.app.taking import Journals
from observatory.benchmarks.plan import Task
from observatory.store.journal.writer import Journal
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Sample
from tests.factories import RUN, header, sample


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
    journals.append(RUN, one, fleet)
    assert fleet.accepted == [one]

    def full(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(Journal, "append", full)
    with pytest.raises(OSError, match="full"):
        journals.append(RUN, sample(), fleet)
    assert fleet.accepted == [one]
