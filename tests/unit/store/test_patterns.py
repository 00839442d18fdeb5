"""Patterns of names."""

from __future__ import annotations

import pytest

from observatory.store.base.patterns import chosen, contains, matches


@pytest.mark.parametrize(
    ("name", "pattern", "fits"),
    [
        ("test_sort[NUMBA]", "test_sort[NUMBA]", True),
        ("test_sort[NUMBA]", "*[NUMBA]", True),
        ("test_sortN", "test_sort[NUMBA]", False),
        ("Elemwise{a,\nb}", "Elemwise*", True),
        ("ab", "a?", False),
        ("ab", "a", False),
    ],
)
def test_only_a_star_is_special(name: str, pattern: str, fits: bool) -> None:
    assert matches(name, pattern) is fits


def test_a_pattern_may_fit_a_part_of_a_name() -> None:
    assert contains("time_sort[NUMBA]", "sort[")
    assert contains("time_sort[NUMBA]", "time*NUMBA")
    assert contains("anything", None)
    assert not contains("time_sort[NUMBA]", "sort*time")


def test_of_names_those_stay_that_any_pattern_fits() -> None:
    assert chosen(["a[1]", "b", "a"], ["a[1]", "b*"]) == ["a[1]", "b"]
