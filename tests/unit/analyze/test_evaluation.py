"""The recipe of the evaluation, with detectors whose rates are known beforehand."""

import numpy as np
import pytest

from observatory.analyze.detectors import (
    DETECTORS,
    FOUND_WITHIN,
    NIGHTS,
    OURS,
    POSITIONS,
    STEPS,
    WINDOW,
    online_rates,
    rates,
    windows,
)

SERIES = [np.exp(0.01 * np.random.default_rng(n).standard_normal(220)) for n in range(6)]


def silent(_: np.ndarray) -> list[int]:
    return []


def test_a_window_is_a_permutation_of_neighbouring_values() -> None:
    ordered = np.arange(500.0) + 1
    (one,) = windows([ordered], seed=3)
    assert len(one.values) == WINDOW
    assert np.ptp(one.values) == WINDOW - 1
    assert list(one.values) != sorted(one.values)
    assert POSITIONS[0] <= one.position <= POSITIONS[1]


def test_blocks_keep_their_inner_order() -> None:
    (one,) = windows([np.arange(300.0) + 1], seed=3, block=10)
    assert (np.diff(one.values.reshape(-1, 10), axis=1) == 1).all()
    assert not (np.diff(one.values) == 1).all()


def test_short_series_are_left_out() -> None:
    with_short = windows([SERIES[0], np.ones(199), SERIES[1]], seed=1)
    assert len(with_short) == 2
    assert (with_short[0].values == windows([SERIES[0]], seed=1)[0].values).all()


def test_who_knows_the_truth_is_perfect_and_who_says_nothing_finds_nothing() -> None:
    drawn = windows(SERIES, seed=2)
    truth = {}
    for window in drawn:
        for step in STEPS:
            truth[window.stepped(step).tobytes()] = window.position
    perfect = rates(
        "perfect", lambda v: [truth[v.tobytes()]] if v.tobytes() in truth else [], drawn
    )
    assert (perfect.f1, perfect.false_series_per_1000, perfect.recall(1.03)) == (1.0, 0.0, 1.0)
    nothing = rates("silent", silent, drawn)
    assert (nothing.f1, nothing.false_series_per_1000, nothing.recall(1.20)) == (0.0, 0.0, 0.0)


def test_a_place_that_is_too_far_off_is_a_miss_and_a_false_alarm() -> None:
    drawn = windows(SERIES, seed=2)
    beside = rates("beside", lambda _: [1], drawn)
    assert beside.f1 == 0.0
    assert beside.null_series == len(SERIES)
    assert beside.extra == len(SERIES) * len(STEPS)


def test_night_after_night_a_place_alarms_once() -> None:
    drawn = windows(SERIES[:2], seed=2)
    found = online_rates("stubborn", lambda values: [7], drawn)
    assert found.false_alarms == 2
    assert found.nights == 2 * (NIGHTS[1] - NIGHTS[0] + 1)
    assert found.found == 0.0
    assert found.median_delay is None


def test_the_delay_counts_nights_from_the_step() -> None:
    drawn = windows(SERIES, seed=2)

    def late(values: np.ndarray) -> list[int]:
        jump = np.flatnonzero(values[1:] / values[:-1] > 1.06)
        return [int(jump[0]) + 1] if len(jump) and len(values) > jump[0] + 8 else []

    found = online_rates("late", late, drawn)
    assert found.found == 1.0
    assert found.median_delay == 8
    assert found.median_delay <= FOUND_WITHIN


@pytest.mark.parametrize("name", list(DETECTORS))
def test_every_detector_sees_a_step_of_half_and_nothing_in_a_constant(name: str) -> None:
    detector = DETECTORS[name][0]
    values = np.repeat([1.0, 1.5], 60) * np.tile(SERIES[0][:60], 2)
    assert any(abs(place - 60) <= 5 for place in detector(values))
    assert detector(np.ones(120)) == []


def test_the_same_seed_gives_the_same_rates() -> None:
    detector = DETECTORS[OURS][0]
    first, second = (rates(OURS, detector, windows(SERIES, seed=4)) for _ in range(2))
    assert (first.found, first.extra) == (second.found, second.extra)
