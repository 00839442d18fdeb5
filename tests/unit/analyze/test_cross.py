"""Which axes made a change, over generated causes and combinations that cannot be measured."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.analyze.cross import Combination, Crossing, Found

AXES = ("PyTensor", "numba", "numpy", "scipy", "other packages", "Python", "pymc", "a wheel")
NONE: Collection[Combination] = ()


def crossed(
    axes: int, changed: Callable[[Combination], bool], impossible: Collection[Combination] = NONE
) -> tuple[Crossing, int]:
    """The whole search, and how many combinations were measured for it."""
    search, measured = Crossing(AXES[:axes]), 0
    while (one := search.wanted()) is not None:
        assert one not in search.values, "nothing is measured twice"
        search.values[one] = None if one in impossible else changed(one)
        measured += one not in impossible
    return search, measured


def made_by(*causes: set[str]) -> Callable[[Combination], bool]:
    """A change that each of these sets of axes makes."""
    return lambda one: any(cause <= one for cause in causes)


def blamed(search: Crossing) -> list[set[str]]:
    return [set(one.axes) for one in search.causes()]


def test_a_single_axis_needs_no_measurement() -> None:
    search, measured = crossed(1, made_by({"PyTensor"}))
    assert (blamed(search), measured, search.product) == ([{"PyTensor"}], 0, 2)


@pytest.mark.parametrize("axis", AXES[:5])
def test_one_of_five_axes_is_found_with_few_measurements(axis: str) -> None:
    search, measured = crossed(5, made_by({axis}))
    assert blamed(search) == [{axis}]
    assert measured <= 5 < search.product == 32
    assert search.values[frozenset({axis})] is True, "it makes the change alone"
    assert [one for one in AXES[:5] if search.needed(one)] == [axis], "without it, it is gone"


def test_the_likeliest_axis_takes_the_fewest() -> None:
    assert crossed(5, made_by({AXES[0]}))[1] <= crossed(5, made_by({AXES[4]}))[1]


def test_axes_that_make_it_only_together_are_one_cause() -> None:
    search, measured = crossed(5, made_by({"PyTensor", "numba"}))
    assert search.causes() == [Found(frozenset({"PyTensor", "numba"}))]
    assert search.needed("PyTensor")
    assert search.needed("numba")
    assert measured <= 10


def test_axes_that_make_it_without_each_other_are_two_causes() -> None:
    search, measured = crossed(7, made_by({"PyTensor"}, {"scipy"}))
    assert blamed(search) == [{"PyTensor"}, {"scipy"}]
    assert not search.needed("scipy"), "the other one is still there"
    assert measured <= 10


def test_what_cannot_be_measured_apart_is_not_blamed_alone() -> None:
    numba, both = frozenset({"numba"}), frozenset({"numba", "numpy"})
    search, _ = crossed(3, made_by({"numba"}), [numba, frozenset({"PyTensor", "numba"})])
    assert search.causes() == [Found(both, (numba,))]
    search, _ = crossed(3, made_by({"numba"}), [frozenset({"PyTensor", "numpy"})])
    assert search.causes() == [Found(numba)]
    assert search.needed("numba") is None, "nobody saw that it is gone without it"


@st.composite
def worlds(draw: st.DrawFn) -> tuple[int, list[Combination], set[Combination]]:
    """How many axes there are, the causes, and the combinations that cannot be measured."""
    count = draw(st.integers(1, 6))
    some = st.frozensets(st.sampled_from(AXES[:count]), min_size=1)
    inside = [
        frozenset(one) for size in range(1, count) for one in combinations(AXES[:count], size)
    ]
    impossible = draw(st.sets(st.sampled_from(inside))) if inside else set()
    return count, draw(st.lists(some, min_size=1, max_size=2)), impossible


@given(worlds())
def test_nothing_is_blamed_falsely(
    world: tuple[int, list[Combination], set[Combination]],
) -> None:
    count, made, impossible = world
    search, measured = crossed(count, made_by(*map(set, made)), impossible)
    causes = {one for one in made if not any(other < one for other in made)}
    for found in search.causes():
        # What is blamed contains a cause. If it is more than that, parts of it were not measurable.
        assert any(cause <= found.axes for cause in causes)
        assert found.axes in causes or found.untried
        assert set(found.untried) <= impossible
    for axis in AXES[:count]:
        if (needed := search.needed(axis)) is not None:
            assert needed == all(axis in cause for cause in causes)
    if not impossible:
        assert {one.axes for one in search.causes()} == causes
    assert measured <= search.product - 2


@given(st.integers(2, 8), st.data())
def test_a_single_cause_of_many_axes_takes_few_of_all_combinations(
    count: int, data: st.DataObject
) -> None:
    cause = data.draw(st.frozensets(st.sampled_from(AXES[:count]), min_size=1, max_size=2))
    search, measured = crossed(count, made_by(set(cause)))
    assert blamed(search) == [set(cause)]
    assert measured <= 5 * len(cause) + 3
