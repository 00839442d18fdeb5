"""The detector of steps, on series whose truth is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from observatory.analyze.history import steps
from observatory.analyze.history.steps import (
    FEWEST,
    PARAMETERS,
    change_points,
    shift,
    sized,
)

RNG_SEED = 5


def noisy(levels: list[float], each: int = 40, spread: float = 0.02) -> np.ndarray:
    rng = np.random.default_rng(RNG_SEED)
    clean = np.repeat(levels, each)
    return clean * np.exp(spread * rng.standard_normal(len(clean)))


def test_a_step_is_found_where_it_is_with_its_size() -> None:
    values = noisy([1.0, 1.1])
    (place,) = change_points(values)
    found = sized(values, place, (0, len(values)))
    assert abs(found.index - 40) <= 2
    assert found.low < 1.1 < found.high
    assert found.before == pytest.approx(1.0, rel=0.01)
    assert found.after == pytest.approx(1.1, rel=0.01)


def test_up_and_down_again_are_two_steps() -> None:
    places = change_points(noisy([1.0, 1.3, 1.0]))
    assert [abs(place - true) <= 1 for place, true in zip(places, (40, 80), strict=True)] == [
        True,
        True,
    ]


def test_noise_alone_has_no_step() -> None:
    assert change_points(noisy([1.0], each=150)) == []


def test_a_single_outlier_is_no_step() -> None:
    values = noisy([1.0], each=60)
    values[30] *= 50
    assert change_points(values) == []


def test_a_shift_of_every_mode_is_seen_where_the_mean_hardly_moves() -> None:
    """Hosted machines of three kinds, each as steady as it is different from the others."""
    rng = np.random.default_rng(RNG_SEED)
    values = rng.choice([1.0, 1.5, 2.2], 150) * np.exp(0.005 * rng.standard_normal(150))
    values[80:] *= 1.05
    (place,) = change_points(values)
    assert abs(place - 80) <= 5


def test_a_change_that_is_sure_and_tiny_is_not_told() -> None:
    values = noisy([1.0, 1.004], spread=1e-4)
    assert change_points(values) == []
    assert len(change_points(values, smallest=0.0)) == 1


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0] * 4, [3.0] * 100])
def test_too_few_values_or_one_value_have_no_step(values: list[float]) -> None:
    assert change_points(values) == []


def test_a_step_to_or_from_zero_is_told() -> None:
    assert change_points([0.0] * 20 + [3.0] * 20) == [20]


@given(
    arrays(float, st.integers(0, 60), elements=st.floats(-1e9, 1e9, allow_subnormal=False)),
)
@settings(max_examples=150)
def test_whatever_comes_the_places_leave_enough_on_both_sides(values: np.ndarray) -> None:
    places = change_points(values)
    bounds = [0, *places, len(values)]
    assert bounds == sorted(bounds)
    if places:
        assert min(np.diff(bounds)) >= PARAMETERS.fewest
        assert len(values) >= FEWEST


# Of real numbers, two may be so close that a power of them is the same number.
@given(
    arrays(float, 60, elements=st.integers(1, 10**6).map(float), unique=True),
    st.sampled_from([2.0, 0.5]),
)
@settings(max_examples=50)
def test_only_the_order_of_the_values_counts(values: np.ndarray, power: float) -> None:
    assert change_points(values, 0.0) == change_points(values**power, 0.0)


@given(
    arrays(float, st.integers(10, 40), elements=st.floats(1, 1.5)),
    st.lists(st.integers(1, 5), max_size=3),
    st.sampled_from([1.0, 1.019999, 1.02, 1.020001, 1.5, 0.0, -1.0]),
)
def test_levels_without_a_common_value_are_told_apart_as_all_others_are(
    values: np.ndarray, places: list[int], factor: float
) -> None:
    """Their steps are not measured: that would take most of the time of a step."""
    values = np.where(np.arange(len(values)) < len(values) // 2, np.round(values, 1), factor)
    at = [len(values) // 5 * place for place in sorted({*places, 3}) if place < 5]
    quickly = steps._material(values, at, 0.02)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "_disjoint", lambda *_: False)
        assert steps._material(values, at, 0.02) == quickly


def test_the_interval_of_a_shift_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(RNG_SEED)
    held = 0
    for _ in range(300):
        old, new = np.exp(rng.standard_normal(12)), 1.2 * np.exp(rng.standard_normal(15))
        _, low, high = shift(old, new)
        held += low <= 1.2 <= high
    assert 0.92 <= held / 300 <= 0.99


def test_a_shift_of_values_that_are_not_positive_has_no_ratio() -> None:
    assert np.isnan(shift(np.array([0.0, 1.0]), np.array([1.0, 2.0]))).all()


@pytest.mark.parametrize("levels", [[1.0, 2.0], [1.0, 1.1, 1.2], [1.0] * 8 + [2.0, 3.0]])
def test_equal_values_are_no_pattern(levels: list[float]) -> None:
    rng = np.random.default_rng(RNG_SEED)
    alarms = sum(bool(change_points(rng.choice(levels, 60))) for _ in range(200))
    assert alarms <= 3
