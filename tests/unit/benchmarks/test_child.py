"""How the measured process ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.child import ends_as_a_users
from observatory.benchmarks.messages import Job

JOB = Job(
    role="measure", measure="counting", cell=Cell("radon", "cold", "C", "spawn"),
    members=(), data=None, report=Path("report"),
)  # fmt: skip


def test_a_process_whose_remains_are_counted_ends_as_that_of_a_user() -> None:
    assert ends_as_a_users(JOB)
    chains = Cell("radon_pymc", "sampling_cold", "NUMBA", "fork")
    assert ends_as_a_users(replace(JOB, cell=chains))
    assert ends_as_a_users(replace(JOB, role="reader", cell=replace(JOB.cell, launch="fork")))


@pytest.mark.parametrize(
    "job",
    [
        replace(JOB, role="fill"),
        replace(JOB, measure="timing"),
        replace(JOB, measure="work"),
        replace(JOB, cell=replace(JOB.cell, launch="fork")),  # it measures nothing itself
        replace(JOB, role="each"),
    ],
    ids=lambda job: f"{job.role}, {job.measure}, {job.cell.launch}",
)
def test_others_end_at_once(job: Job) -> None:
    assert not ends_as_a_users(job)
