"""What is compared with nothing is named."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from observatory.analyze.comparison.comparing import Setting, compared, outcome_of
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.history.series import Series
from observatory.analyze.series_keys import SeriesKey
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.comparison import Comparison, Side
from observatory.store.records.sample import Sample
from observatory.text.comparison.story import tell
from observatory.text.records import comparison_of
from tests.factories import failed, header, sample
from tests.factories_alerts import CELL, detected, line, moment, series, stepped, watched

DISK, PROCESS, CALL = (
    Cell("radon", name, "NUMBA", "spawn") for name in ("warm_disk", "warm_process", "call")
)


def comparison(
    base: list[Sample], head: list[Sample], python: str = "3.13", numba: str | None = None
) -> Comparison:
    """``python``, ``numba``: those of HEAD; None: the numba of BASE."""
    old, new = (
        Side(subject=under.subject, versions=under.versions, machine=under.machine)
        for under in (header(), header(python=python))
    )
    if numba is not None:
        new = new.model_copy(update={"versions": new.versions.model_copy(update={"numba": numba})})
    setting = Setting(old, new, datetime(2026, 11, 20, tzinfo=UTC), True, 0, "0.1", "")
    return comparison_of(compared(setting, Evidence.of(base), Evidence.of(head)))


def worked(cell: Cell) -> Sample:
    return sample(cell, "work", {"instructions": 2e9}, counted_by="callgrind")


def test_a_comparison_names_the_metrics_that_base_does_not_have() -> None:
    counted = [sample(cell, "counting", {"cache_misses": 0}) for cell in (DISK, PROCESS)]
    found = comparison(counted, [*counted, worked(DISK), worked(PROCESS)])
    (warning,) = found.warnings
    assert warning == (
        "not compared: BASE has no value of instructions in radon warm_disk NUMBA spawn, "
        "radon warm_process NUMBA spawn"
    )


def test_a_cell_that_base_does_not_have_at_all_is_said_once() -> None:
    found = comparison([worked(DISK)], [worked(DISK), worked(CALL)])
    assert found.warnings == []
    assert [(one.cell, one.side) for one in found.missing] == [(CALL, "base")]


def test_another_numba_excuses_what_only_some_versions_of_it_tell() -> None:
    cold = Cell("radon", "cold", "NUMBA", "spawn")

    def traced(**runs: int) -> list[Sample]:
        return [sample(cell, "tracing", {"python_calls": 1000, **runs}) for cell in (cold, DISK)]

    base = traced(llvm_pass_runs=47_572)
    same = comparison(base, traced())
    assert [(one.cell, one.side) for one in same.missing] == [(cold, "head"), (DISK, "head")]
    other = comparison(base, traced(), numba="0.65.1")
    assert other.missing == []
    (warning,) = other.warnings
    assert warning.startswith("not compared: HEAD has no value of llvm_pass_runs in radon cold")
    calls = comparison(base, [sample(cold, "tracing", {"llvm_pass_runs": 47_572})], numba="0.65.1")
    assert {one.side for one in calls.missing} == {"head"}  # no numba changes these


def test_what_both_have_and_what_only_describes_is_not_named() -> None:
    base, head = sample(DISK, "counting"), sample(DISK, "counting", {"cache_bytes": 7})
    assert comparison([base], [head]).warnings == []


WHY = "this platform or version does not give it"


def test_what_only_base_has_leaves_its_cell_incomplete_with_the_reason_and_is_no_calm() -> None:
    base = sample(DISK, "counting", {"cache_misses": 0, "uncacheable": 0, "files_leaked": 0})
    head = sample(DISK, "counting", {"files_leaked": 0}, absent={"cache_misses": WHY})
    found = comparison([base], [head])
    ((cell, side, reason),) = [(one.cell, one.side, one.reason) for one in found.missing]
    assert (cell, side) == (DISK, "head")
    assert reason == (
        f"not compared: HEAD has no value of cache_misses ({WHY}); "
        "not compared: HEAD has no value of uncacheable"
    )
    assert outcome_of(found) == "undecided"
    assert tell(found).title.startswith("❔ Partly judged: ")
    assert (found.undecided, found.warnings) == ([], [])


def test_work_that_only_base_counted_is_lost_whether_head_tried_or_not() -> None:
    counted = [sample(DISK, "counting", {"cache_misses": 0})]
    tried = sample(DISK, "work", absent={"instructions": "no counter"})
    for head, why in ((counted, ""), ([*counted, tried], " (no counter)")):
        (one,) = comparison([*counted, worked(DISK)], head).missing
        assert one.reason == f"not compared: HEAD has no value of instructions{why}"


def test_the_reason_of_what_is_lost_is_that_of_the_last_sample() -> None:
    counted = sample(DISK, "counting", {"cache_misses": 0, "uncacheable": 0})
    head = [
        sample(DISK, "counting", {"uncacheable": 0}, absent={"cache_misses": why})
        for why in ("it was not asked for", WHY)
    ]
    (one,) = comparison([counted], head).missing
    assert one.reason == f"not compared: HEAD has no value of cache_misses ({WHY})"


def test_what_head_lost_is_named_also_where_a_sample_of_base_failed() -> None:
    base = [sample(DISK, "counting", {"cache_misses": 0, "uncacheable": 0}), failed(DISK)]
    found = comparison(base, [sample(DISK, "counting", {"uncacheable": 0})])
    assert [(one.cell, one.side) for one in found.missing] == [(DISK, "base")]
    assert "not compared: HEAD has no value of cache_misses in radon warm_disk NUMBA spawn" in (
        found.warnings
    )


def test_importing_that_only_another_model_has_is_lost() -> None:
    other = Cell("radon_pymc", "warm_disk", "NUMBA", "spawn")
    timed = [sample(cell, metrics={"import_time": 0.2}) for cell in (DISK, other)]
    missing = comparison(timed, [timed[0], sample(other)]).missing
    assert [one.cell for one in missing] == [other]


def test_what_neither_side_has_or_only_describes_is_not_lost() -> None:
    absent = sample(DISK, "counting", {"cache_misses": 0}, absent={"uncacheable": WHY})
    assert outcome_of(comparison([absent], [absent])) == "calm"
    described = sample(DISK, "counting", {"cache_misses": 0, "cache_bytes": 7})
    assert outcome_of(comparison([described], [absent])) == "calm"


def test_what_another_python_does_not_count_is_a_warning_alone() -> None:
    counted = [sample(DISK, "counting", {"cache_misses": 0})]
    traced = sample(DISK, "tracing", {"python_calls": 7})
    found = comparison([*counted, traced], counted, python="3.11")
    assert outcome_of(found) == "calm"
    assert found.warnings == [
        "not compared: HEAD has no value of python_calls in radon warm_disk NUMBA spawn"
    ]


def test_importing_that_another_cell_has_is_not_lost() -> None:
    timed = [sample(cell, metrics={"import_time": 0.2}) for cell in (DISK, PROCESS)]
    assert comparison(timed, [timed[0], sample(PROCESS)]).missing == []
    assert len(comparison(timed, [sample(DISK), sample(PROCESS)]).missing) == 2


def test_a_head_that_failed_is_said_to_have_failed_and_no_more() -> None:
    (one,) = comparison([worked(DISK)], [failed(DISK, "work")]).missing
    assert "samples failed" in one.reason
    assert "no value" not in one.reason


def newest(on_cell: str, metric: str = "instructions", last: int = 19) -> Series:
    place = SeriesKey("radon", on_cell, "NUMBA", "spawn", metric, "instructions", "near_exact")
    return Series.of(line(20), place, np.array([last]), np.array([2e9]))


def test_alerts_name_the_benchmarks_that_have_one_value_only() -> None:
    known = series(line(20), stepped(20), cell=CELL)
    found = detected(watched(20, known, newest("warm_disk"), newest("call")), moment(20))
    (unwatched,) = found.unjudged
    assert unwatched.count == 2
    assert unwatched.reason == (
        "no earlier value to compare with: "
        "instructions of radon warm_disk NUMBA spawn, radon call NUMBA spawn"
    )


def test_a_benchmark_that_ended_long_ago_is_not_named() -> None:
    assert detected(watched(20, newest("call", last=3)), moment(20)).unjudged == []


def test_a_new_line_of_a_machine_that_changed_still_has_its_earlier_counts() -> None:
    before = newest("call", last=3)
    changed = line(20, era=line(1).era._replace(cpu="Other"))
    other = Series.of(changed, before.place, np.array([19]), before.values)
    assert detected(watched(20, before, other), moment(20)).unjudged == []
