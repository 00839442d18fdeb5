"""A sequential test errs as seldom as it says, and ends as soon as it can."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.analyze.sequential import decided


def test_five_votes_of_one_kind_are_enough_and_four_are_not() -> None:
    assert decided([True] * 4) is None
    assert decided([True] * 5) is True
    assert decided([False] * 5) is False


def test_one_vote_against_takes_one_more_to_outweigh_and_one_to_win() -> None:
    assert decided([True] * 3 + [False] + [True] * 2) is None
    assert decided([True] * 3 + [False] + [True] * 3) is True


@given(st.lists(st.booleans(), max_size=40), st.lists(st.booleans(), max_size=40))
def test_no_later_vote_changes_an_answer(votes: list[bool], later: list[bool]) -> None:
    answer = decided(votes)
    if answer is not None:
        assert decided(votes + later) is answer


@given(st.lists(st.booleans(), max_size=40))
def test_neither_side_is_preferred(votes: list[bool]) -> None:
    answer = decided(votes)
    assert decided([not one for one in votes]) is (None if answer is None else not answer)


@pytest.mark.parametrize("share", [0.75, 0.85, 0.95])
def test_it_errs_at_most_as_often_as_it_says(share: float) -> None:
    dice = random.Random(1)
    wrong = sum(decided(dice.random() < share for _ in range(400)) is not True for _ in range(4000))
    assert wrong <= 0.01 * 4000
