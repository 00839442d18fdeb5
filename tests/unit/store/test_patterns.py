"""Patterns of names."""

from __future__ import annotations

import pytest

from observatory.store.base.patterns import matches


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
