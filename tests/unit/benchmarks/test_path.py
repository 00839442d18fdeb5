"""The path of a user of PyMC: its models, its records, and what a comparison says of it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from observatory.benchmarks.catalogue import (
    METRICS,
    MODELS,
    PATH,
    PATH_STEPS,
    SCENARIOS,
    Cell,
    models_of,
)
from observatory.benchmarks.models.parts.pymc_model import PymcModel, errors
from observatory.benchmarks.path import walk as walking
from observatory.benchmarks.path.steps import _STEPS
from observatory.benchmarks.probes.ledger import Ledger
from observatory.benchmarks.request import Request
from observatory.store.reading.walks import StepTaken
from observatory.text.path import Walk, path_table, who_asked
from observatory.text.units import MISSING

MODELS_OF_PATH = models_of(PATH[0])


def model(name: str) -> PymcModel:
    found = MODELS[name].build(None)
    assert isinstance(found, PymcModel)
    return found


def test_every_step_has_a_function_and_every_model_takes_all_of_them() -> None:
    assert list(PATH_STEPS) == list(_STEPS)
    assert len(MODELS_OF_PATH) == 6
    assert all(MODELS[name].members == tuple(PATH_STEPS) for name in MODELS_OF_PATH)


@pytest.mark.parametrize("name", ["eight_schools", "mixture", "ordinal"])
def test_the_gradient_is_the_slope_of_the_density_in_any_direction(name: str) -> None:
    found = model(name)
    data = found.data(0, 1)
    at = {one: np.asarray(value, dtype=float) + 0.1 for one, value in found.start(data).items()}
    slopes = found.gradient(data, at)
    far = 1e-4
    moved = [
        found.logp(data, {one: value + sign * far for one, value in at.items()}) for sign in (1, -1)
    ]
    along = (moved[0] - moved[1]) / (2 * far)
    assert sum(float(np.sum(one)) for one in slopes.values()) == pytest.approx(along, rel=1e-5)


def test_new_data_of_the_same_shape_are_others_and_more_are_twice_as_many() -> None:
    for name in MODELS_OF_PATH:
        first, other, more = (model(name).data(*one)["y"] for one in ((0, 1), (1, 1), (1, 2)))
        assert first.shape == other.shape
        assert not np.array_equal(first, other)
        assert more.size == 2 * first.size


@pytest.mark.parametrize("times", [1, 2])
def test_the_reference_of_many_variables_is_far_more_exact_than_its_tolerance(times: int) -> None:
    """Its density is large, so that differences of doubles are off by more than that."""
    model = MODELS["many_variables"].build("")
    data = model.data(1, times)
    at = dict.fromkeys(model.start(data), 0.1)
    slopes = model.gradient(data, at)
    right = -0.1 + ((data["y"] - 0.1) / 0.5**2).sum(axis=0)
    found = np.array([slopes[name] for name in at])
    floor = 1e-4 * np.max(np.abs(right))
    assert np.max(np.abs(found - right) / np.maximum(np.abs(right), floor)) < 1e-9
    # The errors go into a report, and JSON knows the float of Python alone.
    told = errors(model.logp(data, at), model.logp(data, at), found, right)
    assert json.loads(json.dumps([told.logp_error, told.gradient_error]))[0] < 1e-15


def test_a_wrong_gradient_is_wrong_although_the_density_is_right() -> None:
    slopes = np.array([1.0, 2.0])
    assert not errors(-3.0, -3.0, slopes, slopes).wrong
    assert errors(-3.0, -3.0, slopes + 1e-6, slopes).wrong
    assert errors(-3.0, -3.0, slopes[:1], slopes).wrong


def test_the_backend_is_the_default_along_the_path_only() -> None:
    along = Request(Cell("mixture", "path_cold", "NUMBA", "spawn"), "counting")
    assert along.pytensor_flags == "mode=NUMBA"
    assert Request(Cell("radon", "cold", "NUMBA", "spawn"), "counting").pytensor_flags is None


def test_one_more_function_is_an_alarm_cold_and_warm() -> None:
    for scenario in PATH:
        assert METRICS["graphs_compiled"].alerts_in(scenario)
        assert SCENARIOS[scenario].apart
    assert METRICS["cache_misses"].alerts_in("path_warm")
    assert not METRICS["cache_misses"].alerts_in("path_cold")


def test_the_table_has_the_steps_in_their_order_and_says_what_is_wrong_first() -> None:
    metrics = {"graphs_compiled": 4, "functions_compiled": 9, "cache_misses": 4, "step_time": 1.5}
    steps = {
        "sample": StepTaken("sample", metrics=metrics),
        "initial_point": StepTaken("initial_point", metrics={**metrics, "wrong_results": 1}),
        "nutpie": StepTaken("nutpie", "absent", "nutpie is not installed"),
    }
    found = path_table("mixture", "NUMBA", [Walk("3.3.8", "path_warm", steps)])
    assert found.header == ("step", "3.3.8 warm")
    assert [row[0] for row in found.rows] == ["initial_point", "sample", "nutpie", "all steps"]
    assert found.rows[0][1].startswith("WRONG  4  9  4")
    assert found.rows[2][1] == "absent"
    assert "initial_point" in found.footnotes[0]


@pytest.mark.parametrize("status", ["failed", "absent", "left out"])
def test_steps_are_not_summed_where_one_that_another_subject_took_is_missing(status: str) -> None:
    metrics = {"graphs_compiled": 4, "functions_compiled": 9, "cache_misses": 4, "step_time": 1.5}
    point, nutpie = StepTaken("point", metrics=metrics), StepTaken("nutpie", "absent")
    both = {"point": point, "sample": StepTaken("sample", metrics=metrics), "nutpie": nutpie}
    one = {**both, "sample": StepTaken("sample", status)}
    if status == "left out":
        del one["sample"]
    found = path_table(
        "mixture", "NUMBA", [Walk("3.3.7", "path_warm", both), Walk("3.3.8", "path_warm", one)]
    )
    assert found.rows[-1] == ("all steps", "8  18  8  3.00 s", MISSING)


def test_steps_of_which_one_was_not_timed_have_no_sum_of_times() -> None:
    counts = {"graphs_compiled": 4, "functions_compiled": 9, "cache_misses": 4}
    timed = StepTaken("point", metrics={**counts, "step_time": 1.5})
    steps = {"point": timed, "sample": StepTaken("sample", metrics=counts)}
    found = path_table("mixture", "NUMBA", [Walk("3.3.8", "path_warm", steps)])
    assert found.rows[-1][1] == f"8  18  8  {MISSING}"


def test_the_posterior_of_eight_schools_is_that_of_a_walk_over_its_density() -> None:
    found = model("eight_schools")
    data, rng = found.data(0, 1), np.random.default_rng(7)
    at = {one: np.array(value, dtype=float) for one, value in found.start(data).items()}
    here, seen = found.logp(data, at), []
    for _ in range(20_000):
        moved = {one: value + 0.7 * rng.normal(size=value.shape) for one, value in at.items()}
        there = found.logp(data, moved)
        if np.log(rng.random()) < there - here:
            at, here = moved, there
        seen.append(float(at["mu"]))
    assert np.mean(seen[2000:]) == pytest.approx(found.quantity.mean, abs=0.5)
    assert np.std(seen[2000:]) == pytest.approx(found.quantity.sd, rel=0.15)


def test_who_asks_is_said_once_where_all_walks_agree_and_of_each_where_they_do_not() -> None:
    def walk(label: str, **asked: str) -> Walk:
        steps = {name: StepTaken(name, compiled=tuple(who.split())) for name, who in asked.items()}
        return Walk(label, "path_warm", steps)

    same = walk("3.3.8", sample="pymc.a pymc.b pymc.b", smc="pymc.c"), walk("3.3.9", smc="pymc.d")
    assert list(who_asked("eight_schools", same)) == [
        "sample: pymc.a, pymc.b (2)", "smc, 3.3.8 warm: pymc.c", "smc, 3.3.9 warm: pymc.d",
    ]  # fmt: skip


def test_what_is_drawn_before_a_step_is_not_its_first_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OBSERVATORY_CHAINS", "")  # the step sets it; this puts it back
    bench: Any = SimpleNamespace(
        measure="timing", ledger=Ledger(), probed=False, measured_seconds=0.0
    )
    walk = walking.Walk(bench, "sample_again", model("eight_schools"), tmp_path / "told")
    walk.drawn()
    with walk.span():
        walk.drawn()
    assert walk.metrics["first_draw_time"] <= walk.metrics["step_time"]


def test_a_draw_whose_density_is_no_number_is_wrong_whatever_later_chains_say(
    tmp_path: Path,
) -> None:
    of = model("eight_schools")
    start = of.start(of.data(0, 1))
    right = float(of.logp(of.data(0, 1), start))
    kept = {0: [right, float("nan")], 1: [right * (1 + 1e-13)]}
    trace: Any = SimpleNamespace(
        chains=list(kept), point=lambda _, chain: start,
        get_sampler_stats=lambda _, chains: kept[chains[0]],
    )  # fmt: skip
    bench: Any = SimpleNamespace(checks=[])
    walk = walking.Walk(bench, "chains_fork", of, tmp_path)
    walk.check_draws(trace)
    assert [one.wrong for one in bench.checks] == [True]
    kept[0] = [right]
    walk.check_draws(trace)
    assert [one.wrong for one in bench.checks] == [True, False]
