"""The record of a sample, from what its processes reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import process
from benchmarks.catalogue import VARIANTS
from benchmarks.process import Outcome
from benchmarks.records import Found, assemble
from observatory.record.sample import Sample

RIGHT = {"logp_error": 0.0, "gradient_error": 0.0, "wrong": False, "note": None}
WRONG = {**RIGHT, "logp_error": 0.5, "wrong": True}


def outcome(status: str = "ok", **changes: Any) -> Outcome:
    fields: dict[str, Any] = {
        "report": {
            "metrics": {"cache_misses": 3},
            "checks": [{"name": "build", **RIGHT}],
            "seconds": {"first_line": 10.5, "measured": 2.0, "reported": 14.0},
        },
        "status": status,
        "message": None if status == "ok" else "it broke",
        "signal": None,
        "exit_code": 0,
        "stderr": [] if status == "ok" else ["the end"],
        "started": 10.0,
        "seconds": 5.0,
        "descendants_rss": 0,
    }
    return Outcome(**fields | changes)


def record(found: Found, scenario: str = "cold", measure: str = "counting") -> Sample:
    header = {
        "schema": "observatory/sample/1",
        "cell": {"model": "radon", "scenario": scenario, "backend": "NUMBA", "launch": "fork"},
        "measure": measure,
        "hash_seed": 1,
        "started_at": "2026-11-20T12:00:00+00:00",
    }
    facts = {"files_leaked": 16, "cache_bytes": 1000}
    return Sample.model_validate(assemble(header, found, facts, 6.0))


def test_a_good_sample_has_its_metrics_and_those_of_its_sandbox() -> None:
    found = record(Found(outcome()))
    assert found.status == "ok"
    assert found.metrics["cache_misses"] == 3
    assert found.metrics["files_leaked"] == 16
    assert found.metrics["crashed"] == 0


def test_what_a_pass_should_have_given_and_did_not_is_absent_with_a_reason() -> None:
    found = record(Found(outcome()))
    assert "uncacheable" in found.absent
    assert "compile_time" not in found.absent  # another pass gives it


def test_a_failed_sample_gives_no_metric_but_that_it_failed() -> None:
    found = record(Found(outcome("killed", signal="SIGSEGV", report=None)))
    assert found.metrics == {"wrong_results": 0, "crashed": 1}
    assert found.absent["cache_misses"] == "killed: it broke"
    assert found.failure is not None
    assert (found.failure.signal, found.failure.stderr) == ("SIGSEGV", ["the end"])


def test_an_unavailable_cell_did_not_crash() -> None:
    found = record(Found(outcome("unavailable", report={"metrics": {}})))
    assert found.metrics == {}
    assert found.absent["cache_misses"] == "unavailable: it broke"


def test_a_failed_filler_is_not_reported_as_the_measured_process() -> None:
    filler = outcome("timeout")
    found = record(Found(filler, filler=filler))
    assert found.failure is not None
    assert found.failure.message == "the process that fills the cache: it broke"


def test_a_wrong_value_of_the_filler_is_not_lost() -> None:
    filler = outcome(report={"checks": [{"name": "fill", **WRONG}]})
    found = record(Found(outcome(), filler=filler), "warm_disk")
    assert [check.name for check in found.checks] == ["fill", "build"]
    assert found.metrics["wrong_results"] == 1


def test_a_sibling_that_died_is_named_with_its_signal() -> None:
    siblings = [(name, outcome()) for name in VARIANTS]
    siblings[2] = (VARIANTS[2], outcome("killed", signal="SIGSEGV", report=None))
    found = record(Found(outcome(), siblings=tuple(siblings)), "siblings")
    assert found.status == "killed"
    assert found.failure is not None
    assert found.failure.message == f"sibling {VARIANTS[2]}: it broke"
    assert found.failure.signal == "SIGSEGV"
    assert sum(check.name.startswith("sibling") for check in found.checks) == 7


def test_wrong_values_are_counted_even_where_a_sibling_died() -> None:
    siblings = ((VARIANTS[0], outcome("killed", report=None)),)
    reader = outcome(report={"metrics": {}, "checks": [{"name": VARIANTS[1], **WRONG}]})
    found = record(Found(reader, siblings=siblings), "siblings")
    assert found.metrics == {"wrong_results": 1, "crashed": 1}


def test_the_parts_of_the_wall_time_add_up() -> None:
    overhead = record(Found(outcome(), prepare=0.25)).overhead
    assert overhead is not None
    assert overhead.start == 0.5
    assert overhead.exit == 1.0
    parts = overhead.model_dump()
    assert parts.pop("total") == pytest.approx(sum(parts.values()))


def test_a_forked_sibling_without_a_report_takes_the_fate_of_its_parent(tmp_path: Path) -> None:
    parent = outcome("timeout")
    found = process.outcome_of_fork(parent, tmp_path / "absent.json")
    assert found.status == "timeout"
    assert found.report is None


@pytest.mark.parametrize(
    ("report", "status", "message", "signal"),
    [
        ('{"exit_code": -11}', "killed", "died of SIGSEGV", "SIGSEGV"),
        ('{"exit_code": 7}', "raised", "exited with code 7 before it reported: the end", None),
        ('{"status": "ok", "metrics": {}}', "ok", None, None),
        ('{"status": "raised", "message": "no"}', "raised", "no", None),
    ],
)
def test_a_forked_sibling_ends_as_its_own_report_says(
    tmp_path: Path, report: str, status: str, message: str | None, signal: str | None
) -> None:
    (tmp_path / "report.json").write_text(report)
    parent = outcome("raised")  # it has no report of its own
    found = process.outcome_of_fork(parent, tmp_path / "report.json")
    assert (found.status, found.message, found.signal) == (status, message, signal)
    assert found.stderr == ([] if status == "ok" else ["the end"])
