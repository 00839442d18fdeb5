"""Series that are plainly without a step are such that the segmentation finds none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.analyze.history import quiet
from observatory.analyze.history.quiet import levels_of_many
from observatory.analyze.history.steady import _LONGEST, _WORTH_IT, steady
from observatory.analyze.history.steps import FEWEST, Values, penalty, segmented_ranks

ROWS = 2 * _WORTH_IT


def ranked(rng: np.random.Generator, n: int, rows: int = ROWS) -> Values:
    """Ranks of noise with steps of all sizes, from none to plain ones; some have two or more."""
    values = rng.normal(size=(rows, n))
    for row, size in zip(values, np.linspace(0, 3, rows), strict=True):
        for place in rng.integers(0, n, rng.integers(1, 4)):
            row[place:] += size * rng.choice([-1, 1])
    return np.argsort(np.argsort(values, axis=1), axis=1).astype(np.float64) + 1


def without_steps(ranks: Values, weight: float) -> list[bool]:
    return [not segmented_ranks(row, weight) for row in ranks]


@given(st.integers(0, 2**32 - 1), st.integers(FEWEST, 70), st.sampled_from([0.6, 1.0, 1.4]))
def test_what_is_plainly_steady_has_no_step(seed: int, n: int, share: float) -> None:
    """At smaller and larger penalties, too: a step that pays a little is then another one."""
    ranks = ranked(np.random.default_rng(seed), n)
    weight = share * penalty(n)
    assert not (steady(ranks, weight) & ~np.array(without_steps(ranks, weight))).any()


def test_what_has_no_step_is_nearly_always_plainly_steady() -> None:
    rng = np.random.default_rng(3)
    ranks = np.argsort(rng.random((1000, 60)), axis=1).astype(np.float64) + 1
    assert np.mean(steady(ranks, penalty(60))) > 0.95


def test_a_step_that_pays_just_and_just_not() -> None:
    """At the penalty that the only possible step of the shortest series is worth."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        row = rng.permutation(FEWEST) + 1.0
        low, high = 0.0, 10.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            low, high = (middle, high) if segmented_ranks(row, middle) else (low, middle)
        rows = np.tile(row, (ROWS, 1))
        assert not steady(rows, low).any()
        assert not steady(rows, high + 5e-5).any()  # it is, but not plainly
        assert steady(rows, high + 5e-4).all()


@pytest.mark.parametrize(("n", "rows"), [(60, _WORTH_IT - 1), (_LONGEST + 1, ROWS)])
def test_few_series_and_long_ones_are_not_decided(n: int, rows: int) -> None:
    ranks = np.tile(np.random.default_rng(1).permutation(n) + 1.0, (rows, 1))
    assert not steady(ranks, penalty(n)).any()


def test_long_series_are_summed_precisely_enough() -> None:
    ranks = ranked(np.random.default_rng(9), _LONGEST, _WORTH_IT)
    weight = penalty(_LONGEST)
    found = steady(ranks, weight)
    assert found.any()
    assert not (found & ~np.array(without_steps(ranks, weight))).any()


def test_only_what_is_not_plain_is_segmented(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    asked: list[Values] = []
    monkeypatch.setattr(quiet, "segmented_ranks", lambda ranks, _: asked.append(ranks))
    levels_of_many(list(np.exp(rng.normal(0, 0.02, (300, 60)))))
    assert len(asked) < 30
