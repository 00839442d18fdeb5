from __future__ import annotations

import pandas as pd

from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.pages.matrix import SHOWN_IN_CELLS, CellView, Matrix, matrices
from observatory.dashboard.pages.summary import newest
from tests import factories_frame as factory


def matrix(frame: pd.DataFrame) -> Matrix:
    subject = newest(factory.read(frame, SHOWN_IN_CELLS))
    assert subject is not None
    return matrices(subject)[0]


def cell(of: Matrix, scenario: str, backend: str, launch: str = "fork") -> CellView:
    group = next(group for group in of.groups if group.scenario == scenario)
    row = next(row for row in group.rows if row.backend == backend)
    return row.cells[of.launches.index(launch)]


def test_rows_follow_the_vocabulary_and_ablations_come_last():
    found = matrix(factory.frame())
    assert found.launches == ("fork", "spawn")
    warm = next(group for group in found.groups if group.scenario == "warm_process")
    assert [row.backend for row in warm.rows] == [
        "C", "C_VM", "NUMBA", "NUMBA_OPS_ONLY", "NUMBA_NO_CACHE",
    ]  # fmt: skip
    assert [row.secondary for row in warm.rows] == [False, False, False, True, True]


def test_warm_misses_carry_a_mark_and_cold_ones_only_a_count():
    old = matrix(factory.as_frame(factory.release_rows("2.35.1")))
    assert cell(old, "warm_disk", "NUMBA").misses.state == "bad"
    assert cell(old, "warm_disk", "NUMBA").misses.text == "103 missed"
    new = matrix(factory.frame())
    assert cell(new, "warm_disk", "NUMBA").misses.mark == "✓"
    assert cell(new, "cold", "NUMBA").misses.mark == ""


def test_a_warm_cell_that_compiles_without_a_cache_is_not_said_to_miss_nothing():
    warm = Cell("radon", "warm_disk", "JAX", "fork")
    counts = {"cache_misses": 0, "functions_compiled": 6}
    rows = [factory.row(warm, name, value) for name, value in counts.items()]
    misses = cell(matrix(factory.as_frame(rows)), "warm_disk", "JAX").misses
    assert (misses.text, misses.mark) == ("6 compiled without a lookup", "")
    rows = [factory.row(warm, name, 0) for name in counts]
    assert cell(matrix(factory.as_frame(rows)), "warm_disk", "JAX").misses.mark == "✓"


def test_what_a_cache_refused_is_not_said_to_be_compiled_without_a_lookup():
    warm = Cell("radon", "warm_disk", "JAX", "fork")
    counts = {"cache_misses": 0, "functions_compiled": 6, "uncacheable": 6}
    rows = [factory.row(warm, name, value) for name, value in counts.items()]
    found = cell(matrix(factory.as_frame(rows)), "warm_disk", "JAX")
    assert found.misses.text == "0"
    assert [flag.text for flag in found.alarms] == ["6 uncacheable"]
    rows[1] = factory.row(warm, "functions_compiled", 8)
    found = cell(matrix(factory.as_frame(rows)), "warm_disk", "JAX")
    assert found.misses.text == "2 compiled without a lookup"


def test_cells_without_a_value_say_so_and_never_show_zero():
    found = matrix(factory.frame())
    absent = cell(found, "variants", "C")
    assert absent.time is None
    assert absent.no_time == "not measured"
    assert absent.misses.text == "not counted"
    assert found.not_measured == "Not measured here: siblings."


def test_a_crash_is_shown_where_the_time_would_be():
    rows = [factory.row(Cell("radon", "cold", "C", "fork"), "crashed", 1)]
    found = cell(matrix(factory.as_frame(rows)), "cold", "C")
    assert [flag.text for flag in found.alarms] == ["crashed"]
    assert found.no_time == "no time"


def test_a_scenario_that_has_no_clock_is_not_said_to_lack_a_time():
    rows = [factory.row(Cell("radon", "siblings", "NUMBA", "fork"), "wrong_results", 7)]
    found = cell(matrix(factory.as_frame(rows)), "siblings", "NUMBA")
    assert found.no_time == "counted, not timed"
    assert [flag.text for flag in found.alarms] == ["7 wrong results"]


def test_words_that_the_vocabulary_does_not_know_are_shown_after_those_it_does():
    rows = [
        factory.row(Cell("other", "odd", backend, "fork"), "compile_time", 1.0, n=3)
        for backend in ("ZZ", "NUMBA")
    ]
    group = matrix(factory.as_frame(rows)).groups[0]
    assert [row.backend for row in group.rows] == ["C", "C_VM", "NUMBA", "ZZ"]
