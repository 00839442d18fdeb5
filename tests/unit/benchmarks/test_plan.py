"""The plan: what is taken, in which order, from whose cache."""

from __future__ import annotations

from observatory.benchmarks.catalogue import Cell, cells
from observatory.benchmarks.plan import Rounds, plan

QUICK = (
    *cells(
        scenarios=("cold", "warm_disk", "warm_process", "call"), backends=("C", "C_VM", "NUMBA")
    ),
    *cells(scenarios=("variants",), backends=("NUMBA",)),
)


def test_every_cell_is_taken_as_often_as_asked() -> None:
    tasks = plan(QUICK, Rounds(timing=3, counting=1))
    for cell in QUICK:
        assert sum(t.cell == cell and t.measure == "timing" for t in tasks) == 3
        assert sum(t.cell == cell and t.measure == "counting" for t in tasks) == 1


def test_a_cache_is_filled_before_anyone_starts_from_it() -> None:
    kept: set[str | None] = {None}
    for task in plan(QUICK, Rounds(1, 1, 1)):
        assert task.cache in kept
        kept.add(task.keep)


def test_the_filler_is_the_counting_cold_sample_of_the_same_launch() -> None:
    tasks = plan([Cell("radon", "warm_disk", "NUMBA", "fork")], Rounds(1, 1))
    assert tasks[0].cell == Cell("radon", "cold", "NUMBA", "fork")
    assert tasks[0].measure == "counting"
    assert tasks[0].keep == tasks[1].cache == tasks[2].cache


def test_no_cold_sample_is_taken_twice_because_it_also_fills() -> None:
    tasks = plan(QUICK, Rounds(1, 1))
    assert len({(t.cell, t.measure, t.round) for t in tasks}) == len(tasks) == 2 * len(QUICK)


def test_an_ablation_starts_from_the_cache_of_its_parent() -> None:
    for backend, parent in (("NUMBA_NO_CACHE", "NUMBA"), ("C_VM_NOGC", "C_VM")):
        scenario = "call" if backend == "C_VM_NOGC" else "warm_process"
        (filler, *_) = plan([Cell("radon", scenario, backend, "spawn")], Rounds(1, 0))
        assert filler.cell.backend == parent


def test_a_pass_without_a_metric_for_the_cell_is_left_out() -> None:
    siblings = Cell("radon", "siblings", "NUMBA", "fork")
    assert [t.measure for t in plan([siblings], Rounds(3, 1, 1))] == ["counting"]


def test_work_has_caches_of_its_own_made_for_the_pinned_cpu() -> None:
    warm = Cell("radon", "warm_disk", "NUMBA", "spawn")
    filler, sample = plan([warm], Rounds(timing=0, counting=0, work=1))
    assert (filler.measure, filler.cell.scenario, sample.measure) == ("work", "cold", "work")
    assert filler.keep == sample.cache
    caches = {t.cache for t in plan([warm], Rounds(1, 1, 1, 1)) if t.measure != "work" and t.cache}
    assert len(caches) == 1
    assert sample.cache not in caches


def test_both_sides_of_a_comparison_take_work_with_the_same_row_of_seeds() -> None:
    warm = [Cell("radon", "warm_disk", "NUMBA", launch) for launch in ("spawn", "fork")]
    tasks = [t for t in plan(warm, Rounds(1, 1, 0, 3)) if t.keep is None]
    seeds = {
        (t.cell.launch, t.hash_seed) for t in tasks if t.measure == "work"
    }  # under fork, all that share a cache share its seed
    assert seeds == {("spawn", 1), ("spawn", 2), ("spawn", 3), ("fork", None)}
    assert {t.hash_seed for t in tasks if t.measure != "work"} == {None}


def test_timed_rounds_visit_all_cells_in_turn() -> None:
    timed = [t for t in plan(QUICK, Rounds(2, 1)) if t.measure == "timing"]
    assert [t.round for t in timed] == [0] * len(QUICK) + [1] * len(QUICK)
