"""Settings crossed by pairs."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from observatory.analyze.covering import by_pairs


@pytest.mark.parametrize("number", range(2, 20))
def test_any_two_settings_have_all_four_values_together(number: int) -> None:
    rows = by_pairs(number)
    for one, other in combinations(range(number), 2):
        found = {(row[one], row[other]) for row in rows}
        assert found == set(product((False, True), repeat=2))


def test_a_single_setting_is_once_as_usual_and_once_not() -> None:
    assert by_pairs(1) == [(False,), (True,)]


@pytest.mark.parametrize(("number", "rows"), [(3, 4), (10, 6), (12, 7), (15, 7), (16, 8)])
def test_few_rows_are_enough_and_the_first_is_usual(number: int, rows: int) -> None:
    found = by_pairs(number)
    assert len(found) == rows
    assert not any(found[0])
