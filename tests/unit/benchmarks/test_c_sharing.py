"""What graphs of C's cache say of wrong counts and of wrong values. No PyTensor is needed."""

from typing import Any

import numpy as np
import pytest

from observatory.benchmarks.models.c_ops import MODEL
from observatory.benchmarks.models.parts import c_sharing


def counting(*counts: float, wrong: int = 0) -> Any:
    def work(build: c_sharing._Builds) -> tuple[float, ...]:
        build.wrong += wrong
        return counts

    return c_sharing._counts(work, keys_read=1, keys_read_later=0)


def test_right_counts_are_a_right_graph() -> None:
    case = counting(1, 0)
    assert not case.check(case.compile(None)(None)).wrong


def test_another_count_raises_and_says_what_was_counted() -> None:
    with pytest.raises(c_sharing.UnexpectedCountsError) as told:
        counting(1, 2).compile(None)(None)
    assert str(told.value) == "keys read later: 2 instead of 0"


def test_a_wrong_value_is_a_wrong_result_whatever_was_counted() -> None:
    case = counting(1, 2, wrong=1)
    value = case.compile(None)(None)
    assert case.check(value).wrong
    assert MODEL.build(None).explain(value) == "the value is -1."


def test_a_wrong_value_of_another_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def call(self: c_sharing._Builds, *ops: Any) -> None:
        self.wrong += len(ops)

    monkeypatch.setattr(c_sharing._Builds, "__call__", call)
    build = c_sharing._Builds(None)
    build(np.exp)
    build.elsewhere()
    assert build.wrong == 1
    build.elsewhere(np.exp)
    assert build.wrong == 2
