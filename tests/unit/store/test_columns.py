from __future__ import annotations

import itertools

import numpy as np

from observatory.store.asv.columns import Columns, Series, SeriesList, joined


def some(first: int, many: int) -> Columns:
    numbers = np.arange(first, first + many)
    ints = numbers.astype(np.int32)
    return Columns(ints, ints, numbers / 2, ints, numbers / 4, numbers / 8)


def same(one: Columns, other: Columns) -> bool:
    pairs = zip(one.arrays(), other.arrays(), strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def test_combinations_are_those_of_the_product_in_its_order() -> None:
    series = Series("a", (("1", "2"), ("x",), ("p", "q", "r")))
    assert len(series) == 6
    found = [series.combination(position) for position in range(len(series))]
    assert found == list(itertools.product(*series.params))
    assert (len(Series("a")), Series("a").combination(0)) == (1, ())
    assert len(Series("a", ((), ("x",)))) == 0


def test_joined_columns_are_those_of_the_parts_in_their_order() -> None:
    assert same(joined([some(0, 3), Columns(), some(3, 2)]), some(0, 5))
    assert same(joined([]), Columns())


def test_a_series_has_one_number_however_often_it_is_added() -> None:
    series = SeriesList([Series("a"), Series("a", (("1",),)), Series("b")])
    assert series.numbers([Series("b"), Series("a"), Series("c")]).tolist() == [2, 0, 3]
    assert series.find("a", (("1",),)) == 1
    assert series.find("a", (("2",),)) is None
    assert series.lengths == [1, 1, 1, 1]
    assert series.texts == [1, 4, 1, 1]
