"""What graphs of C's cache say of wrong counts and of wrong values. No PyTensor is needed."""

from typing import Any

import pytest

from observatory.benchmarks.models.parts import c_sharing


def work_that_counts(*counts: float, wrong: int = 0) -> Any:
    def work(build: c_sharing._Builds) -> tuple[float, ...]:
        """Keys that are read, now and later.

        Not for users.
        """
        build.wrong += wrong
        return counts

    return work


def test_right_counts_are_a_right_graph() -> None:
    case = c_sharing._counts(work_that_counts(1, 0), 1, 0)
    assert not case.check(case.compile(None)(None)).wrong


def test_another_count_raises_and_says_what_was_counted() -> None:
    case = c_sharing._counts(work_that_counts(1, 2), 1, 0)
    with pytest.raises(c_sharing.UnexpectedCountsError) as told:
        case.compile(None)(None)
    assert str(told.value) == "1, 2 instead of 1, 0: Keys that are read, now and later"


def test_a_wrong_value_is_a_wrong_result_whatever_was_counted() -> None:
    case = c_sharing._counts(work_that_counts(1, 2, wrong=1), 1, 0)
    assert case.check(case.compile(None)(None)).wrong
