"""How the measured process ends: as that of a user only where the files that it leaves count."""

from __future__ import annotations

import atexit
import gc
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from observatory.benchmarks import child, forking, scenarios
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.messages import Job, Report, name_of_signal
from observatory.benchmarks.models import NotInThisRelease
from observatory.benchmarks.typed_json import to_json

SPAWN = Cell("radon", "cold", "C", "spawn")
FORK = replace(SPAWN, launch="fork")
JOB = Job(
    role="measure", measure="counting", cell=SPAWN, members=(), data=None, report=Path("report")
)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What a process has registered for its end; it does nothing else."""
    found: list[object] = []
    monkeypatch.setattr(atexit, "register", found.append)
    monkeypatch.setattr(child, "end_with_parent", lambda _: None)
    monkeypatch.setattr(child, "_import_subject", lambda _: {})
    monkeypatch.setattr(child, "work", lambda _: 0)
    for name in ("fork_one", "fork_siblings"):
        monkeypatch.setattr(forking, name, lambda *_: None)
    return found


def run(job: Job, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = place / "job.json"
    file.write_text(to_json(job))
    monkeypatch.setattr(sys, "argv", ["child", str(file)])
    with suppress(SystemExit):
        child.main()


@pytest.mark.parametrize(
    "job",
    [
        JOB,
        replace(JOB, role="reader", cell=replace(FORK, model="closures", scenario="siblings")),
        replace(JOB, cell=Cell("radon_pymc", "sampling_cold", "NUMBA", "fork")),
        replace(
            JOB, role="siblings", members=("times_2",),
            cell=Cell("closures", "siblings_after_build", "NUMBA", "fork"),
        ),
    ],
    ids=["spawned", "reader", "sampler", "parent that builds"],
)  # fmt: skip
def test_a_process_whose_leftovers_count_looks_for_cycles_at_its_end(
    job: Job, registered: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(job, tmp_path, monkeypatch)
    assert registered == []


@pytest.mark.parametrize(
    "job",
    [
        replace(JOB, role="fill"),
        replace(JOB, measure="timing"),
        replace(JOB, measure="work"),
        replace(JOB, cell=FORK),
    ],
    ids=["filler", "timed", "of work", "parent of a fork"],
)
def test_others_do_not(
    job: Job, registered: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(job, tmp_path, monkeypatch)
    assert registered == [gc.freeze]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotInThisRelease("no such Op"), "unavailable", 0),
        (ValueError("no such Op"), "raised", forking.RAISED),
    ],
)
def test_a_graph_that_a_release_lacks_is_no_failure_of_it(
    error: Exception, status: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[Report] = []

    def measure(*_: object, **__: object) -> Report:
        raise error

    monkeypatch.setattr(scenarios, "measure", measure)
    monkeypatch.setattr(child, "write_report", lambda _, report: reports.append(report))
    assert child.work(JOB, {}) == code
    (report,) = reports
    assert report.status == status
    assert report.message is not None
    assert report.message.endswith("no such Op")


@pytest.mark.parametrize(
    ("backend", "linked"),
    [("C", True), ("C_VM", True), ("DEFAULT", True), ("NUMBA", False), ("JAX", False)],
)
def test_blas_is_looked_for_where_code_may_be_linked_with_it(backend: str, linked: bool) -> None:
    assert Cell("radon", "cold", backend, "spawn").links_blas == linked


def test_every_signal_has_a_name_also_those_without_one() -> None:
    assert name_of_signal(signal.SIGKILL) == "SIGKILL"
    assert name_of_signal(signal.SIGRTMIN + 6) == f"signal {signal.SIGRTMIN + 6}"
