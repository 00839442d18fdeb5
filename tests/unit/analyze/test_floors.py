"""The noise floor of a machine, from samples of one subject."""

import math

import numpy as np
import pytest

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import (
    SMALLEST,
    NoiseFloors,
    floors_of,
    noise_floor,
)
from observatory.analyze.comparison.noisy import hodges_lehmann
from observatory.store.records.calibration import Calibration
from tests.factories import NOON, WARM, header, sample


def calibration(evidence: Evidence) -> Calibration:
    under = header()
    return Calibration(
        machine=under.machine,
        subject=under.subject,
        versions=under.versions,
        taken_at=NOON,
        floors=list(floors_of(evidence, seed=1)),
    )


def timed(spread: float, number: int = 56) -> Evidence:
    rng = np.random.default_rng(1)
    values = 0.25 * np.exp(rng.normal(0, spread, number))
    return Evidence.of(sample(WARM, metrics={"compile_time": float(v)}) for v in values)


def test_a_floor_is_what_one_comparison_in_a_hundred_exceeds() -> None:
    rng = np.random.default_rng(2)
    values = np.exp(rng.normal(0, 0.02, 20_000))
    floor = noise_floor(values, np.random.default_rng(3))
    chosen = rng.choice(values, (20_000, 14))
    apart = np.abs(hodges_lehmann(np.log(chosen[:, :7]), np.log(chosen[:, 7:])))
    assert np.mean(apart > np.log1p(floor)) == pytest.approx(0.01, abs=0.004)


def test_drift_that_meets_neighbours_alike_raises_no_floor() -> None:
    drifting = np.linspace(1, 3, 56)
    assert noise_floor(list(drifting), np.random.default_rng(1)) < 0.35
    shuffled = np.random.default_rng(1).permutation(drifting)
    assert noise_floor(list(shuffled), np.random.default_rng(1)) > 0.5


def test_a_noisier_machine_has_a_higher_minimum_effect() -> None:
    quiet, loud = (NoiseFloors.of(calibration(timed(spread))) for spread in (0.002, 0.1))
    assert quiet.minimum_effect(WARM, "compile_time") == SMALLEST
    assert loud.minimum_effect(WARM, "compile_time") > 0.08


def test_more_processes_see_smaller_changes_down_to_the_smallest_that_counts() -> None:
    floors = NoiseFloors.of(calibration(timed(0.1)))
    seven, fifteen, many = (floors.minimum_effect(WARM, "compile_time", n) for n in (7, 15, 5000))
    assert fifteen == pytest.approx(seven * (7 / 15) ** 0.5)
    assert many == SMALLEST
    assert floors.minimum_effect(WARM, "compile_time", 3) == seven


def test_too_few_values_give_no_floor() -> None:
    assert list(floors_of(timed(0.1, number=13), seed=1)) == []


def test_a_near_exact_metric_has_a_range() -> None:
    evidence = Evidence.of(
        sample(WARM, "tracing", {"python_calls": value}) for value in (1000, 1010)
    )
    (floor,) = floors_of(evidence, seed=1)
    assert (floor.kind, floor.cell) == ("near_exact", WARM)
    assert floor.change == pytest.approx(0.01 / math.sqrt(3), rel=1e-3)  # between means of three


def test_one_sample_that_is_far_off_hardly_moves_what_is_learned() -> None:
    """Counts of one hash seed are neighbours, and repeat: it is other seeds that differ."""
    steps = np.random.default_rng(4).normal(0, 1, 20)
    values = np.repeat(700_000 * (1 + 0.0003 * steps), 2)
    odd = np.append(values, 800_000)
    found = [
        next(floors_of(Evidence.of(sample(WARM, "tracing", {"python_calls": float(one)})
                                   for one in some), seed=1)).change
        for some in (values, odd)
    ]  # fmt: skip
    assert found[0] == pytest.approx(0.0003 * 2.576 * math.sqrt(2 / 3), rel=0.35)
    assert found[1] < 1.5 * found[0]


def test_counts_remember_what_counted_them() -> None:
    taken = [sample(WARM, "work", {"instructions": 1e9 + n}, counted_by="callgrind")
             for n in range(6)]  # fmt: skip
    (floor,) = floors_of(Evidence.of(taken), seed=1)
    assert floor.source == "callgrind"
    noise = NoiseFloors.of(calibration(Evidence.of(taken))).noise(WARM, "instructions")
    assert noise is not None
    assert (noise.samples, noise.source) == (6, "callgrind")


def test_nothing_is_learned_of_what_seldom_happens() -> None:
    taken = [sample(WARM, "timing", {"waiting_time": one}) for one in (0.001, 0.3) * 3]
    assert [one.metric for one in floors_of(Evidence.of(taken), seed=1)] == []


def test_of_six_samples_the_floor_is_what_one_comparison_of_three_in_a_hundred_exceeds() -> None:
    values = [1000, 1001, 1000, 1001, 1000, 1100]
    few, many = (
        next(floors_of(Evidence.of(sample(WARM, "tracing", {"python_calls": one}) for one in some),
                       seed=1)).change
        for some in (values[1:], values)
    )  # fmt: skip
    assert few == pytest.approx(0.1 / math.sqrt(3), rel=1e-3)
    assert many < 0.002
