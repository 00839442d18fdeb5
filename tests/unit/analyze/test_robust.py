"""Medians, ranks, slopes and segmentations are those of NumPy, SciPy and ruptures, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from observatory.analyze.history import kernel
from observatory.analyze.history.robust import (
    Values,
    all_equal,
    median,
    medians,
    ranks,
    theil_sen,
    trend,
)


def histories() -> list[Values]:
    """Series of 2 to 200 values: with and without ties, with and without a step."""
    rng = np.random.default_rng(7)
    found = []
    for n in (2, 3, 10, 11, 50, 51, 200):
        for digits in (1, 2, 16):
            values = np.round(np.exp(rng.normal(0, 0.05, n)), digits)
            found.append(values)
            found.append(values * np.where(np.arange(n) < n // 2, 1.0, 1.4))
    return found


@pytest.mark.parametrize("values", histories())
def test_they_are_those_of_numpy_and_scipy(values: Values) -> None:
    assert median(values) == np.median(values)
    np.testing.assert_array_equal(ranks(values), stats.rankdata(values))
    if np.ptp(values) > 0:
        assert trend(values) == np.corrcoef(np.arange(len(values)), ranks(values))[0, 1]
    for time in (np.arange(len(values), dtype=float), np.cumsum(1 + values)):
        found = stats.theilslopes(values, time)
        assert theil_sen(values, time) == (found.slope, found.low_slope, found.high_slope)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9, 10])
def test_the_medians_of_rows_are_those_of_each(n: int) -> None:
    rows = np.random.default_rng(n).normal(0, 1, (5, n))
    assert medians(rows).tolist() == [median(row) for row in rows]


def test_values_are_equal_if_all_are() -> None:
    for values, equal in (([1, 1, 1], True), ([1, 2, 1], False), ([1, 1, 2], False), ([1], True)):
        assert all_equal(np.array(values, float)) is equal


def test_the_compiled_segmentation_is_that_of_the_documented_interface() -> None:
    """Where the compiled one is not found, the same places come slower: not a failure here."""
    segment = kernel.segmenter()
    for values in (one for one in histories() if len(one) >= 10):
        signal = ranks(values).reshape(-1, 1) / len(values)
        for weight in (1.0, 4.0):
            expected = kernel.whole(signal, weight, 5, 289.0)
            assert segment(signal, weight, 5, 289.0) == expected


def test_this_version_of_ruptures_has_what_is_called() -> None:
    assert kernel.segmenter() is not kernel.whole
