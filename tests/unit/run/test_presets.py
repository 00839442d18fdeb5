"""The presets, and what the user's options leave of them."""

from __future__ import annotations

import pytest

from observatory.benchmarks.catalogue import (
    BACKENDS,
    METRICS,
    QUICK_MODELS,
    SCENARIOS,
)
from observatory.benchmarks.plan import Task
from observatory.run.presets import PRESETS, Narrowed, presets_with, tasks_of
from observatory.run.schedule import Estimate, shares


def of(tasks: list[Task], **words: str) -> list[Task]:
    return [t for t in tasks if all(getattr(t.cell, k) == v for k, v in words.items())]


def test_the_quick_matrix_takes_one_timed_and_one_counting_sample_of_each_cell() -> None:
    tasks = tasks_of(PRESETS["quick"], Narrowed())
    assert len({t.cell for t in tasks}) == 26
    assert len(tasks) == 52
    assert {t.measure for t in tasks} == {"timing", "counting"}


def test_the_history_only_counts_variants_and_siblings() -> None:
    tasks = tasks_of(PRESETS["history"], Narrowed())
    for scenario in ("variants", "siblings"):
        assert {t.measure for t in of(tasks, scenario=scenario)} == {"counting"}
    warm = of(tasks, scenario="warm_disk", backend="NUMBA", launch="fork")
    assert [t.measure for t in warm].count("timing") == 3
    cold = of(tasks, scenario="cold", backend="NUMBA", launch="fork")
    assert [t.measure for t in cold].count("timing") == 1


@pytest.mark.parametrize("preset", ["history", "night"])
def test_cold_builds_inside_of_the_process_are_traced_once(preset: str) -> None:
    cold = of(tasks_of(PRESETS[preset], Narrowed()), scenario="cold")
    traced = [task.cell for task in cold if task.measure == "tracing"]
    assert len(traced) == len(set(traced))
    assert {(cell.backend, cell.launch) for cell in traced} == {("NUMBA", "spawn")}


def test_options_narrow_a_preset() -> None:
    narrowed = Narrowed(backends=["NUMBA"], scenarios=["cold"], launches=["fork"])
    tasks = tasks_of(PRESETS["quick"], narrowed)
    assert {str(t.cell) for t in tasks} == {"radon cold NUMBA fork"}


def test_rounds_change_only_what_the_preset_times() -> None:
    tasks = tasks_of(PRESETS["history"], Narrowed(timing=5))
    assert sum(t.measure == "timing" for t in of(tasks, scenario="variants")) == 0
    warm = of(tasks, scenario="warm_disk", backend="C", launch="fork")
    assert sum(t.measure == "timing" for t in warm) == 5


def test_a_narrowed_pass_keeps_the_fillers_that_it_starts_from() -> None:
    tasks = tasks_of(PRESETS["quick"], Narrowed(measures=["timing"], scenarios=["warm_disk"]))
    assert {t.measure for t in tasks if t.keep is None} == {"timing"}
    assert {t.cache for t in tasks if t.cache} <= {t.keep for t in tasks if t.keep}


def test_another_model_gets_the_cells_that_it_has() -> None:
    tasks = tasks_of(PRESETS["quick"], Narrowed(models=["radon_pymc"]))
    assert {t.cell.model for t in tasks} == {"radon_pymc"}
    assert of(tasks, scenario="variants") == []


@pytest.mark.parametrize(
    ("narrowed", "said"),
    [
        (
            Narrowed(scenarios=["warm"]),
            "there is no scenario 'warm' (did you mean 'warm_disk'?); choose from cold, warm_disk",
        ),
        (Narrowed(backends=["numba"]), "there is no backend 'numba'"),
        (Narrowed(measures=["time"]), "there is no pass 'time'"),
    ],
)
def test_an_unknown_word_is_answered_with_the_known_ones(narrowed: Narrowed, said: str) -> None:
    assert said in (narrowed.unknown() or "")
    assert Narrowed(scenarios=["cold"]).unknown() is None


@pytest.mark.parametrize(
    ("narrowed", "why"),
    [
        (Narrowed(["lookalikes"], None, ["C"]), ": model lookalikes is not measured with"),
        (Narrowed(["closures"], ["siblings"], ["C"]), ": model closures is not measured with"),
        (
            Narrowed(scenarios=["warm_disk"], launches=["forkserver"]),
            ": scenario warm_disk is not measured with start method forkserver; choose from fork",
        ),
        # These can be measured, and the preset has none of them.
        (Narrowed(scenarios=["siblings_threads"]), ""),
        (Narrowed(launches=["forkserver"]), ""),
        # No scenario has both.
        (Narrowed(models=["linalg"], launches=["fork"]), ""),
    ],
)
def test_where_nothing_is_left_the_reason_is_said_if_there_is_one(
    narrowed: Narrowed, why: str
) -> None:
    assert tasks_of(PRESETS["quick"], narrowed) == []
    said = narrowed.none_left("the preset quick")
    assert said.startswith(f"no cell of the preset quick matches these options{why}")
    assert bool(why) is (":" in said)


def test_presets_that_have_what_another_lacks_are_named() -> None:
    assert presets_with(Narrowed(scenarios=["siblings_threads"])) == ["canary", "canary-full"]


def test_the_canary_forks_radon_and_arranges_small_graphs_in_every_way() -> None:
    tasks = tasks_of(PRESETS["canary"], Narrowed())
    assert {t.measure for t in tasks} == {"counting"}
    assert [str(t.cell) for t in of(tasks, model="radon")] == ["radon siblings NUMBA fork"]
    arranged = {(t.cell.scenario, t.cell.launch) for t in of(tasks, model="closures")}
    assert ("siblings_nested", "fork") in arranged
    assert ("siblings_at_once", "forkserver") in arranged
    assert ("siblings_nested", "spawn") not in arranged
    alike = {(t.cell.scenario, t.cell.launch) for t in of(tasks, model="lookalikes")}
    assert {("siblings", "fork"), ("siblings", "spawn")} < alike < arranged


def test_models_that_are_named_take_the_place_of_the_presets_own() -> None:
    tasks = tasks_of(PRESETS["canary-full"], Narrowed(models=["radon"]))
    assert {t.cell.model for t in tasks} == {"radon"}
    assert len({t.cell for t in tasks}) == len(tasks)


def test_the_census_builds_all_and_the_canary_the_quick_sets() -> None:
    models = {name: {cell.model for cell in PRESETS[name].cells} for name in PRESETS}
    assert models["census"] == {"ops", "keys", "key_cost"}
    assert set(QUICK_MODELS) <= models["canary"]
    pairs = {
        name: {cell.scenario for cell in PRESETS[name].cells if cell.scenario.startswith("pairs_")}
        for name in ("census", "canary")
    }
    assert pairs == {"census": {"pairs_first", "pairs_second"}, "canary": {"pairs_keys"}}
    census = tasks_of(PRESETS["census"], Narrowed())
    timed = {task.cell.scenario for task in census if task.measure == "timing"}
    assert timed == {"key_making"}
    assert not any(set(QUICK_MODELS) & models[name] for name in PRESETS
                   if name != "canary")  # fmt: skip


def test_optional_backends_are_measured_where_they_are_named_and_in_the_night() -> None:
    asked = Narrowed(backends=["JAX"])
    optional = {name for name, one in BACKENDS.items() if one.optional}
    unasked = {t.cell.backend for t in tasks_of(PRESETS["full"], Narrowed())}
    assert not unasked & optional
    assert {t.cell.backend for t in tasks_of(PRESETS["full"], asked)} == {"JAX"}
    installed = {name for name in optional if BACKENDS[name].installs}
    large = {name for name in installed if BACKENDS[name].only_named}
    night = {t.cell.backend for t in tasks_of(PRESETS["night"], Narrowed())}
    assert installed - large <= night


@pytest.mark.parametrize("preset", PRESETS)
def test_a_backend_whose_package_is_large_is_installed_for_nobody_who_does_not_name_it(
    preset: str,
) -> None:
    tasks = tasks_of(PRESETS[preset], Narrowed())
    assert not any("torch" in one for task in tasks for one in task.cell.installs)


def test_the_night_takes_quick_and_what_no_other_step_takes() -> None:
    night = {cell.scenario for cell in PRESETS["night"].cells}
    assert set(PRESETS["quick"].cells) <= set(PRESETS["night"].cells)
    others = {cell for name in ("canary", "census") for cell in PRESETS[name].cells}
    assert not set(PRESETS["night"].cells) & others
    assert set(PRESETS["topics"].cells) <= set(PRESETS["night"].cells)
    there = night | {c.scenario for c in (*others, *PRESETS["canary-full"].cells)}
    missed = set(SCENARIOS) - there
    assert {SCENARIOS[name].family for name in missed} == {"upgrade"}


def test_the_night_takes_every_pass_from_which_an_alarm_can_come() -> None:
    taken = {(task.cell, task.measure) for task in tasks_of(PRESETS["night"], Narrowed())}
    needed = {
        (cell, metric.measure)
        for cell in PRESETS["night"].cells
        for metric in METRICS.values()
        if metric.alerts_in(cell.scenario) and SCENARIOS[cell.scenario].family in metric.families
    }
    assert {cell.scenario for cell, measure in needed if measure == "tracing"} == {"growth"}
    assert needed <= taken


def test_the_night_and_its_other_steps_end_within_45_minutes() -> None:
    expected = (s.seconds for name in ("night", "canary") for s in shares(
        tasks_of(PRESETS[name], Narrowed()), workers=2
    ))  # fmt: skip
    assert sum(expected) < 45 * 60


def test_the_shares_of_a_plan_add_up_to_what_it_takes() -> None:
    tasks = tasks_of(PRESETS["quick"], Narrowed())
    parts = shares(tasks, workers=2)
    assert sum(part.samples for part in parts) == len(tasks)
    assert sum(part.seconds for part in parts) == pytest.approx(Estimate(tasks, 2).seconds_left())
    assert parts == sorted(parts, key=lambda part: -part.seconds)
