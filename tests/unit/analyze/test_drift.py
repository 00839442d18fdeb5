"""A slow drift told apart from steps."""

import numpy as np
import pytest

from observatory.analyze.history.drift import FEWEST, drift, slope_between

RNG = np.random.default_rng(11)


def noise(n: int, spread: float = 0.01) -> np.ndarray:
    return np.exp(spread * RNG.standard_normal(n))


def test_a_slope_is_a_drift_and_no_staircase() -> None:
    found, places = drift(np.geomspace(1.0, 1.3, 120) * noise(120))
    assert found is not None
    assert found.ratio == pytest.approx(1.3, rel=0.02)
    assert found.low <= found.ratio <= found.high
    assert places == []


def test_a_step_is_no_drift() -> None:
    found, places = drift(np.repeat([1.0, 1.3], 60) * noise(120))
    assert found is None
    assert len(places) == 1


def test_noise_neither_drifts_nor_steps() -> None:
    assert drift(noise(150)) == (None, [])


def test_a_drift_with_a_step_in_it_is_both() -> None:
    slope = np.geomspace(1.0, 1.2, 160)
    slope[80:] *= 1.5
    found, places = drift(slope * noise(160, 0.005))
    assert found is not None
    assert [abs(place - 80) <= 2 for place in places] == [True]


def test_few_values_do_not_drift() -> None:
    assert drift(np.linspace(1.0, 2.0, FEWEST - 1))[0] is None


def test_a_drift_of_one_per_cent_is_not_told() -> None:
    assert drift(np.linspace(1.0, 1.01, 120) * noise(120, 1e-4))[0] is None


def test_the_slope_between_steps_is_the_median_of_the_pairs_of_each_level() -> None:
    logs, places = np.random.default_rng(3).normal(0, 1, 20).cumsum(), [7, 12]
    levels = [range(7), range(7, 12), range(12, 20)]
    slopes = [(logs[j] - logs[i]) / (j - i) for one in levels for i in one for j in one if i < j]
    assert slope_between(logs, places) == pytest.approx(np.median(slopes))
