"""The record of a sample, from what its processes reported."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from observatory.benchmarks import forking, process
from observatory.benchmarks.catalogue import Cell, Measure
from observatory.benchmarks.messages import (
    Check,
    Job,
    Report,
    Spent,
    Status,
    read_report,
    write_report,
)
from observatory.benchmarks.models.parts.radon_data import VARIANTS
from observatory.benchmarks.process import Ending, Exit
from observatory.benchmarks.records import Processes, assemble
from observatory.benchmarks.request import Request
from observatory.benchmarks.typed_json import to_json
from observatory.store.records.sample import Sample


def right(name: str) -> Check:
    return Check(name, 0.0, 0.0, False)


def wrong(name: str) -> Check:
    return Check(name, 0.5, 0.0, True)


REPORT = Report(
    "ok",
    metrics={"cache_misses": 3},
    checks=(right("build"),),
    spent=Spent(first_line=10.5, measured=2.0, reported=14.0),
)


def ending(status: Status = "ok", report: Report | None = REPORT, code: int = 0) -> Ending:
    exited = Exit(code, status == "timeout", ("the end",), 10.0, 5.0, 0)
    return Ending(report, status, None if status == "ok" else "it broke", exited)


def record(
    processes: Processes, scenario: str = "cold", measure: Measure = "counting",
    box_metrics: dict[str, float] | None = None, backend: str = "NUMBA", **of_request: Any,
) -> Sample:  # fmt: skip
    assembled = assemble(
        Request(Cell("radon", scenario, backend, "fork"), measure, **of_request),
        processes,
        {"files_leaked": 16, "cache_bytes": 1000} if box_metrics is None else box_metrics,
        leaked={"tmp*: def perform": 16},
        hash_seed=1,
        started_at=datetime(2026, 11, 20, 12, tzinfo=UTC),
        total=6.0,
    )
    return Sample.model_validate_json(to_json(assembled))


def test_a_good_sample_has_its_metrics_and_those_of_its_sandbox() -> None:
    found = record(Processes(ending()))
    assert found.status == "ok"
    assert found.metrics["cache_misses"] == 3
    assert found.metrics["files_leaked"] == 16
    assert found.leaked == {"tmp*: def perform": 16}
    assert found.metrics["crashed"] == 0


def test_what_a_pass_should_have_given_and_did_not_is_absent_with_a_reason() -> None:
    found = record(Processes(ending()))
    assert "uncacheable" in found.absent
    assert "compile_time" not in found.absent  # another pass gives it


def test_a_wait_for_threads_that_compile_is_absent() -> None:
    found = record(Processes(ending()), measure="timing", backend="JAX")
    assert found.absent["waiting_time"] == "the build waits for other threads, which compile"


@pytest.mark.parametrize("backend", ["C", "NUMBA"])
def test_a_trace_says_what_its_calls_leave_out(backend: str) -> None:
    report = Report("ok", metrics={"python_calls": 480_000})
    found = record(Processes(ending(report=report)), measure="tracing", backend=backend)
    expected = "sys.monitoring, without the search for a BLAS" if backend == "C" else None
    assert found.counted_by == expected


def test_leaked_files_are_not_counted_in_a_directory_of_the_user() -> None:
    elsewhere = {"TMPDIR": "/elsewhere"}
    found = record(Processes(ending()), box_metrics={"cache_bytes": 1000}, variables=elsewhere)
    assert "files_leaked" not in found.metrics
    assert found.absent["files_leaked"] == "the temporary directory is not the sample's own"


def test_a_failed_sample_gives_no_metric_but_that_it_failed() -> None:
    found = record(Processes(ending("killed", report=None, code=-11)))
    assert found.metrics == {"wrong_results": 0, "crashed": 1}
    assert found.absent["cache_misses"] == "killed: it broke"
    assert found.failure is not None
    assert (found.failure.signal, found.failure.stderr) == ("SIGSEGV", ["the end"])


def test_an_unavailable_cell_did_not_crash() -> None:
    found = record(Processes(ending("unavailable", report=Report("unavailable"))))
    assert found.metrics == {}
    assert found.absent["cache_misses"] == "unavailable: it broke"


def test_a_failed_filler_is_not_reported_as_the_measured_process() -> None:
    filler = ending("timeout")
    found = record(Processes(filler, filler=filler))
    assert found.failure is not None
    assert found.failure.message == "the process that fills the cache: it broke"


def test_a_wrong_value_of_the_filler_is_not_lost() -> None:
    filler = ending(report=Report("ok", checks=(wrong("fill"),)))
    found = record(Processes(ending(), filler=filler), "warm_disk")
    assert [check.name for check in found.checks] == ["fill", "build"]
    assert found.metrics["wrong_results"] == 1


def test_a_sibling_that_died_is_named_with_its_signal() -> None:
    siblings = [(name, ending()) for name in VARIANTS]
    siblings[2] = (VARIANTS[2], ending("killed", report=None, code=-11))
    found = record(Processes(ending(), siblings=tuple(siblings)), "siblings")
    assert found.status == "killed"
    assert found.failure is not None
    assert found.failure.message == f"sibling {VARIANTS[2]}: it broke"
    assert found.failure.signal == "SIGSEGV"
    assert sum(check.name.startswith("sibling") for check in found.checks) == 7


def test_wrong_values_are_counted_even_where_a_sibling_died() -> None:
    siblings = ((VARIANTS[0], ending("killed", report=None)),)
    reader = ending(report=Report("ok", checks=(wrong(VARIANTS[1]),)))
    found = record(Processes(reader, siblings=siblings), "siblings")
    assert found.metrics == {"wrong_results": 1, "crashed": 1}


def test_the_parts_of_the_wall_time_add_up() -> None:
    overhead = record(Processes(ending(), prepare=0.25)).overhead
    assert overhead is not None
    assert overhead.start == 0.5
    assert overhead.exit == 1.0
    parts = overhead.model_dump()
    assert parts.pop("total") == pytest.approx(sum(parts.values()))


def test_a_forked_sibling_without_a_report_takes_the_fate_of_its_parent(tmp_path: Path) -> None:
    parent = ending("timeout")
    found = process.ending_of_fork(parent, tmp_path / "absent.json")
    assert found.status == "timeout"
    assert found.report is None


@pytest.mark.parametrize(
    ("report", "status", "message", "signal"),
    [
        (Report("died", exit_code=-11), "killed", "died of SIGSEGV", "SIGSEGV"),
        (Report("died", exit_code=7), "raised", "exited with code 7 before it reported: the end",
         None),
        (Report("ok"), "ok", None, None),
        (Report("raised", "no"), "raised", "no", None),
    ],
)  # fmt: skip
def test_a_forked_sibling_ends_as_its_own_report_says(
    tmp_path: Path, report: Report, status: str, message: str | None, signal: str | None
) -> None:
    (tmp_path / "report.json").write_text(to_json(report))
    parent = ending("raised")  # it has no report of its own
    found = process.ending_of_fork(parent, tmp_path / "report.json")
    assert (found.status, found.message, found.failure[0]) == (status, message, signal)
    assert found.exit.stderr == ("the end",)
    assert (found.report is None) == (report.status == "died")


def test_a_sibling_that_died_is_explained_by_its_own_stderr(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(to_json(Report("died", exit_code=1)))
    (tmp_path / "report.stderr").write_text("Traceback\nValueError: its own\n")
    found = process.ending_of_fork(ending(), tmp_path / "report.json")
    assert found.message == "exited with code 1 before it reported: ValueError: its own"


def test_a_report_that_is_none_is_a_failure_that_names_the_field(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"status": "ok"}')
    found = process.ending_of_fork(ending(), tmp_path / "report.json")
    assert (found.status, found.report) == ("raised", None)
    assert found.message is not None
    assert found.message.startswith("its report cannot be read: Report: missing or unknown fields")


def test_a_fork_does_its_job_and_a_child_that_dies_is_reported_by_its_parent(
    tmp_path: Path,
) -> None:
    job = Job("siblings", Cell("radon", "siblings", "NUMBA", "fork"), "counting",
              ("one", "two", "three"), None, tmp_path / "siblings-0.json")  # fmt: skip

    def work(job: Job) -> int:
        os.write(2, job.members[0].encode())
        if job.members == ("two",):
            os.kill(os.getpid(), 9)
        write_report(job, Report("ok", values={job.members[0]: ()}))
        return 0

    forking.fork_siblings(job, work)
    reports = [read_report(each.report) for each in job.for_members()]
    assert reports == [
        Report("ok", values={"one": ()}),
        Report("died", exit_code=-9),
        Report("ok", values={"three": ()}),
    ]
    written = [each.report.with_suffix(".stderr").read_text() for each in job.for_members()]
    assert written == ["one", "two", "three"]
