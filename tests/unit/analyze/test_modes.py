"""Two modes are told where there are two, and where no ratio would do."""

from __future__ import annotations

import numpy as np
import pytest

from observatory.analyze.history.steps import sized, two_modes
from observatory.store.records.alerts import described_by_ratio

RNG_SEED = 11


def mixed(n: int, slow: float, fast: float = 3.5, slower: float = 92.0) -> np.ndarray:
    """Values of two modes, a share of ``slow`` in the upper one, in no order."""
    values = np.where(np.arange(n) < round(slow * n), slower, fast)
    rng = np.random.default_rng(RNG_SEED)
    return rng.permutation(values) * np.exp(0.02 * rng.standard_normal(n))


def test_a_share_that_rises_is_told_with_both_modes() -> None:
    found = two_modes(mixed(50, 0.2), mixed(50, 0.8), worse=True)
    assert found is not None
    assert (found.lower, found.upper) == pytest.approx((3.5, 92), rel=0.02)
    assert (found.before, found.after) == (0.2, 0.8)
    assert found.moved is None


def test_a_share_that_changes_against_the_ratio_explains_nothing() -> None:
    assert two_modes(mixed(50, 0.2), mixed(50, 0.8), worse=False) is None


def test_modes_that_moved_are_told_where_their_shares_did_not() -> None:
    found = two_modes(mixed(50, 0.5), mixed(50, 0.5) * 1.1, worse=True)
    assert found is not None
    assert found.moved == pytest.approx((3.5 * 1.1, 92 * 1.1), rel=0.02)
    assert (found.lower, found.upper) == pytest.approx((3.5, 92), rel=0.02)


def test_a_plain_step_has_a_mode_on_either_side_and_not_two() -> None:
    assert two_modes(mixed(50, 0), mixed(50, 1), worse=True) is None


@pytest.mark.parametrize("seed", range(5))
def test_one_wide_mode_is_not_two(seed: int) -> None:
    rng = np.random.default_rng(seed)
    normal = np.exp(0.3 * rng.standard_normal(120))
    assert two_modes(normal[:60], normal[60:] * 1.1, worse=True) is None


def test_single_outliers_are_no_mode() -> None:
    assert two_modes(mixed(50, 0.02), mixed(50, 0.06), worse=True) is None


def test_values_that_are_all_the_same_have_no_modes() -> None:
    assert two_modes(np.ones(9), np.ones(9), worse=True) is None


def test_a_ratio_describes_a_step_if_it_fits_the_medians_and_says_a_size() -> None:
    assert described_by_ratio(1.3, 1.2, 1.4)
    assert not described_by_ratio(2.0, 1.2, 1.4)
    assert not described_by_ratio(1.3, 1.035, 26.37)


def test_a_step_gives_its_medians_and_its_modes() -> None:
    """A ratio of all pairs jumps between modes: 344 was told where 2 was observed."""
    values = np.concatenate([mixed(6, 0.5, 0.23, 161), mixed(51, 1, 0.23, 161)])
    found = sized(values, 6, (0, 57))
    assert found.before == np.median(values[:6])
    assert found.after == np.median(values[6:])
    assert found.modes is not None
    assert (found.modes.before, found.modes.after) == (0.5, 1.0)


def test_a_step_that_a_ratio_describes_has_no_modes() -> None:
    assert sized(np.concatenate([mixed(40, 0), mixed(40, 0) * 1.3]), 40, (0, 80)).modes is None


def test_the_medians_are_those_of_whole_levels_however_long() -> None:
    values = np.concatenate([np.linspace(1, 2, 900), np.linspace(3, 4, 900)])
    found = sized(values, 900, (0, 1800))
    assert (found.before, found.after) == pytest.approx((1.5, 3.5))
