"""What is compared with nothing is named."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from observatory.analyze.comparison.comparing import Setting, compared
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.history.series import Series
from observatory.analyze.series_keys import SeriesKey
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.comparison import Comparison, Side
from observatory.store.records.sample import Sample
from observatory.text.records import comparison_of
from tests.factories import header, sample
from tests.factories_alerts import CELL, detected, line, moment, series, stepped, watched

DISK, PROCESS, CALL = (
    Cell("radon", name, "NUMBA", "spawn") for name in ("warm_disk", "warm_process", "call")
)


def comparison(base: list[Sample], head: list[Sample]) -> Comparison:
    under = header()
    side = Side(subject=under.subject, versions=under.versions, machine=under.machine)
    setting = Setting(side, side, datetime(2026, 11, 20, tzinfo=UTC), True, 0, "0.1", "")
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


def test_what_both_have_and_what_only_describes_is_not_named() -> None:
    base, head = sample(DISK, "counting"), sample(DISK, "counting", {"cache_bytes": 7})
    assert comparison([base], [head]).warnings == []


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
