"""The search for changes along simulated histories whose values follow a script."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.analyze.search import Search, Step


def equal(one: float, other: float) -> bool:
    return one == other


def searched(values: list[float | None], same: Callable[[float, float], bool] = equal) -> Search:
    """The search along subjects with these values; None: one that cannot be measured."""
    search = Search(len(values), same)
    while wanted := search.wanted():
        assert not set(wanted) & search.values.keys()  # nothing is measured twice
        search.values[wanted[0]] = values[wanted[0]]
    return search


def test_one_change_costs_a_logarithm() -> None:
    search = searched([0.0] * 90 + [7.0] * 53)
    assert search.steps() == [Step(89, 90, 0.0, 7.0)]
    assert len(search.values) <= 2 + math.ceil(math.log2(143))


def test_two_changes_are_told_apart_and_an_intermediate_level_is_no_end() -> None:
    search = searched([0.0] * 20 + [3.0] * 30 + [7.0] * 14)
    assert search.steps() == [Step(19, 20, 0.0, 3.0), Step(49, 50, 3.0, 7.0)]


def test_what_cannot_be_measured_beside_a_change_is_named() -> None:
    (step,) = searched([0.0, 0.0, None, None, 5.0, 5.0]).steps()
    assert (step.before, step.after, step.skipped) == (1, 4, (2, 3))


def test_without_a_value_at_an_end_nothing_is_searched() -> None:
    search = searched([None, 1.0, 2.0])
    assert (search.values, search.steps()) == ({0: None, 2: 2.0}, [])


def test_equal_ends_cost_two_measurements() -> None:
    search = searched([1.0, 5.0, 5.0, 1.0])
    assert (len(search.values), search.steps()) == (2, [])


def test_a_drift_below_the_noise_has_no_culprit() -> None:
    def same(one: float, other: float) -> bool:
        return abs(one - other) <= 0.01 * max(one, other)

    values: list[float | None] = [100.0 + 0.2 * number for number in range(64)]
    assert searched(values, same).steps() == []


HISTORIES = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 30)), min_size=1, max_size=6).map(
    lambda levels: [float(value) for value, length in levels for _ in range(length)]
)


@settings(max_examples=100)
@given(HISTORIES, st.sets(st.integers(0, 179), max_size=20))
def test_none_is_blamed_falsely(history: list[float], broken: set[int]) -> None:
    """Several changes, some reverted, and builds that fail: each culprit is one, or is named so."""
    ends = (0, len(history) - 1)
    values = [None if place in broken - {*ends} else value for place, value in enumerate(history)]
    search = searched(values)
    for step in search.steps():
        assert history[step.before] == step.low != step.high == history[step.after]
        assert all(values[place] is None for place in step.skipped)
    # The changes that were found lead from the first value to the last.
    path = [history[0], *(step.high for step in search.steps())]
    assert path[-1] == history[-1]
    assert [step.low for step in search.steps()] == path[:-1]
    assert all(left.after <= right.before for left, right in pairwise(search.steps()))


@settings(max_examples=50)
@given(HISTORIES)
def test_what_is_prepared_contains_what_is_wanted_next(history: list[float]) -> None:
    """Of one change: with several, a wider gap elsewhere may come first."""
    values = [float(value >= 2) for value in sorted(history)]
    search = Search(len(values), equal)
    while wanted := search.wanted():
        prepared = search.after(wanted[0])
        assert len(prepared) <= 2
        search.values[wanted[0]] = values[wanted[0]]
        if prepared and (following := search.wanted()):
            assert following[0] in prepared


@settings(max_examples=50)
@given(HISTORIES)
def test_the_costs_are_bounded(history: list[float]) -> None:
    search = searched(list(history))
    most = 2 + len(search.steps()) * math.ceil(math.log2(max(2, len(history))))
    assert len(search.values) <= max(2, most)


@pytest.mark.parametrize("place", range(1, 9))
def test_what_is_known_is_not_measured_again(place: int) -> None:
    values: list[float | None] = [0.0] * place + [1.0] * (10 - place)
    search = Search(10, equal, {number: values[number] for number in (0, 4, 9)})
    while wanted := search.wanted():
        assert wanted[0] not in (0, 4, 9)
        search.values[wanted[0]] = values[wanted[0]]
    assert search.steps() == [Step(place - 1, place, 0.0, 1.0)]
