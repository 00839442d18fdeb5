"""A step among the three or four newest values, by an exact rank test."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from observatory.analyze.history.fresh import HELD, _chance, fresh_step, with_fresh
from observatory.analyze.history.segments import segmented
from tests.factories_alerts import detected, line, moment, series, stepped, watched


@pytest.mark.parametrize("inversions", [0, 1, 3, 6])
def test_the_chance_is_the_share_of_all_orders(inversions: int) -> None:
    """Counted in all ways in which the ranks of three new values can lie among those of nine."""
    n, k = 6, 3
    found = 0
    for ranks in combinations(range(n + k), k):
        others = [rank for rank in range(n + k) if rank not in ranks]
        found += sum(old > new for new in ranks for old in others) <= inversions
    # New values at the top, of which the lowest is below so many old ones.
    old = np.arange(1.0, n + 1)
    new = np.array([n + 0.5 - inversions, n + 2.0, n + 3.0])
    expected = 2 * found / len(list(combinations(range(n + k), k)))
    assert _chance(old, new) == pytest.approx(min(1.0, expected))


def test_ten_per_cent_is_told_with_the_third_value() -> None:
    values = stepped(100, 97, 1.10)
    assert fresh_step(values[:99], []) is None
    assert with_fresh(values, []) == [97]
    assert with_fresh(1 / values, []) == [97]


def test_three_high_values_among_others_as_high_are_no_step() -> None:
    values = stepped(100, 97, 1.10)
    values[[20, 21, 22, 40, 41]] *= 1.3
    assert fresh_step(values, []) is None


def test_earlier_levels_count_by_their_noise_and_not_by_their_height() -> None:
    values = stepped(100, 97, 1.10)
    values[:60] *= 3
    assert fresh_step(values, [60]) == 97


def test_a_small_step_is_left_to_the_detector() -> None:
    assert fresh_step(stepped(100, 97, 1.04), []) is None


def test_a_step_that_was_told_stays_until_the_detector_sees_it() -> None:
    """The fourth value is lower: alone it would not be told, and nothing takes it back."""
    values = stepped(104, 97, 1.10)
    values[100:] *= 0.93
    one = series(line(101), values[:101])
    (plain,) = segmented([one])
    (held,) = segmented([one], [(one.key, one.subject(97).commit)])
    assert plain.bounds == (0, 101)
    assert held.bounds == (0, 97, 101)
    assert fresh_step(values[:101], [], HELD) == 97


def test_a_blip_of_three_values_is_told_once() -> None:
    """It is an alert while it lasts, is over afterwards, and is no second alert."""
    values = stepped(130, 97, 1.12)
    values[100:] /= 1.12
    previous, states = None, []
    for nights in range(97, 131):
        given = watched(nights, series(line(nights), values[:nights]))
        previous = detected(given, moment(nights, previous))
        states.append([one.state for one in previous.alerts])
    assert ["new"] in states
    assert states[-1] == ["resolved"]
    assert not previous.smaller
