"""Forks that each build one graph: limits of CPU time, and caches that are emptied between them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from observatory.benchmarks import forking
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.messages import Job, Report, read_report, write_report
from observatory.benchmarks.models import Model, Size

SIZES = {f"chain.{n}": Size("chain", "nodes", n, limit=0.2) for n in (1, 2, 3)}
MEMBERS = (*SIZES, "other")


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    model = Model("", "", lambda _: None, ("growth",), members=MEMBERS, sizes=SIZES)  # type: ignore[arg-type,return-value]
    monkeypatch.setattr(forking, "MODELS", {"growth": model})
    cell = Cell("growth", "growth", "NUMBA", "spawn")
    (tmp_path / "cache").mkdir()
    return Job("each", cell, "tracing", MEMBERS, None, tmp_path / "each-0.json", limit=20.0,
               emptied=tmp_path / "cache")  # fmt: skip


def work(job: Job) -> int:
    """Leave a file in the cache, and say how many were there; be busy in the second size."""
    cache = job.emptied
    assert cache is not None
    while job.members == ("chain.2",):
        time.process_time()
    found = len(list(cache.rglob("*.nbi")))
    (cache / f"{job.members[0]}.nbi").touch()
    write_report(job, Report("ok", metrics={"found": found}))
    return 0


def test_a_size_above_its_limit_ends_its_family_and_no_other_graph(job: Job) -> None:
    (job.report.parent / "cache" / "kept.nbi").touch()
    forking.fork_siblings(job, work)
    one, two, three, other = (read_report(each.report) for each in job.for_members())
    assert one is not None
    assert other is not None
    assert (one.metrics, other.metrics) == ({"found": 1}, {"found": 1})
    assert [p.name for p in job.report.parent.glob("cache/*")] == ["kept.nbi"]
    notes = [step.note for report in (two, three) if report for step in report.steps]
    assert notes == [
        "it was ended after 0.2 s of CPU time, its limit",
        "not built: a smaller size took more than 0.2 s of CPU time, the limit of each",
    ]
    assert {step.status for report in (two, three) if report for step in report.steps} == {
        "limited"
    }


def late(job: Job) -> int:
    """Take longer than a tenth of a second of wall time."""
    time.sleep(0.4)
    write_report(job, Report("ok"))
    return 0


def for_ever(job: Job) -> int:
    """Whoever looks late, on a slow machine, still finds it."""
    time.sleep(600)
    return late(job)


@pytest.mark.parametrize("arrangement", ["nested", "after a build"])
@pytest.mark.parametrize("members", [("one",), ("one", "two", "three")])
def test_an_odd_number_of_members_is_built_like_an_even_one(
    tmp_path: Path, arrangement: str, members: tuple[str, ...]
) -> None:
    job = Job("siblings", Cell("radon", "siblings", "NUMBA", "fork"), "counting", members, None,
              tmp_path / "siblings-0.json")  # fmt: skip

    def build(job: Job) -> int:
        write_report(job, Report("ok"))
        return 0

    forking._ARRANGEMENTS[arrangement](job.for_members(), build)
    reports = [read_report(each.report) for each in job.for_members()]
    assert [report and report.status for report in reports] == ["ok"] * len(members)


@pytest.mark.parametrize(
    ("queued", "work", "status"), [(0.0, for_ever, "died"), (3600.0, late, "ok")]
)
def test_time_in_which_a_graph_had_no_cpu_does_not_count_to_its_limit(
    job: Job, monkeypatch: pytest.MonkeyPatch, queued: float, work: Callable[[Job], int],
    status: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(forking, "queued_time_of", lambda _: queued)
    one = replace(job, members=("other",), limit=0.1)
    forking.fork_one(one, work)
    report = read_report(one.report)
    assert report is not None
    assert report.status == status
