"""How the measured process ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.child import ends_as_a_users
from observatory.benchmarks.messages import Job, Role

JOB = Job(
    role="measure", measure="counting", cell=Cell("radon", "cold", "C", "spawn"),
    members=(), data=None, report=Path("report"),
)  # fmt: skip


@pytest.mark.parametrize("role", ["measure", "reader", "siblings"])
def test_a_process_whose_remains_are_counted_ends_as_that_of_a_user(role: Role) -> None:
    assert ends_as_a_users(replace(JOB, role=role))


@pytest.mark.parametrize(
    "job",
    [replace(JOB, role="fill"), replace(JOB, measure="timing"), replace(JOB, measure="work")],
    ids=lambda job: f"{job.role}, {job.measure}",
)
def test_others_end_at_once(job: Job) -> None:
    assert not ends_as_a_users(job)
