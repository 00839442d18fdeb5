"""Which values the chart of an alert shows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from observatory.dashboard.drawing.series import FEWEST_BESIDE, MOST_VALUES, _window


def series(n: int) -> Any:
    return SimpleNamespace(
        values=np.arange(float(n)), subject=lambda number: SimpleNamespace(commit=f"{number}")
    )


def change(at: int, before: float = 0.0, after: float = 1000.0) -> Any:
    return SimpleNamespace(first_bad=SimpleNamespace(commit=f"{at}"), before=before, after=after)


@pytest.mark.parametrize("at", [60, 100, 450, 840])
def test_a_change_is_in_the_middle(at: int) -> None:
    first, last = _window(series(900), change(at))
    assert at - first == last - at == MOST_VALUES // 2


def test_a_change_with_few_values_after_it_has_as_few_before_it() -> None:
    assert _window(series(900), change(860)) == (820, 900)


def test_the_newest_change_has_some_values_before_it() -> None:
    assert _window(series(900), change(899)) == (899 - FEWEST_BESIDE, 900)


def test_what_began_at_the_beginning_is_shown_for_long() -> None:
    assert _window(series(900), change(0)) == (0, MOST_VALUES)


def test_without_a_change_the_newest_values_are_shown() -> None:
    assert _window(series(900), None) == (900 - MOST_VALUES, 900)
    assert _window(series(10), change(99)) == (0, 10)


def test_far_older_values_are_left_out_beside_which_a_change_would_be_flat() -> None:
    values = np.array([900.0] * 4 + [10.0] * 8 + [11.0] * 3)
    one = SimpleNamespace(values=values, subject=lambda number: SimpleNamespace(commit=f"{number}"))
    assert _window(one, change(12, 10.0, 11.0)) == (4, 15)  # type: ignore[arg-type]
    assert _window(one, change(12, 10.0, 500.0)) == (0, 15)  # type: ignore[arg-type]
    assert _window(one, change(6, 10.0, 11.0)) == (1, 15)  # type: ignore[arg-type]
