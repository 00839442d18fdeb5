"""Levels of many series at once are those of each series alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.analyze.history import quiet
from observatory.analyze.history.quiet import levels_of_many, medians_without
from observatory.analyze.history.robust import ranks, trend, trends
from observatory.analyze.history.segments import Levels, levels_of

LENGTHS = (1, 4, 9, 10, 29, 30, 31, 60)


def told(levels: Levels) -> object:
    drift, places = levels
    return places, drift and (drift.ratio, drift.low, drift.high, drift.slope, drift.flat.tolist())


def series(rng: np.random.Generator, length: int, kind: int) -> np.ndarray:
    """Noise of one of several kinds, with nothing, a step, a drift or a fresh step in it."""
    values = np.exp(rng.normal(0, 0.02, length))
    time = np.arange(length)
    if kind == 1:
        values *= 1 + 0.2 * (time >= length // 2)
    elif kind == 2:
        values *= np.exp(0.004 * time)
    elif kind == 3:
        values *= 1 + 0.15 * (time >= length - rng.integers(1, 6))
    elif kind == 4:
        values = np.round(values, 2)  # ties
    elif kind == 5:
        values = values - 1  # no ratio
    elif kind == 6:
        values[:] = 3.0
    return values


@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from(LENGTHS), min_size=1, max_size=6))
def test_levels_of_many_are_those_of_each(seed: int, lengths: list[int]) -> None:
    rng = np.random.default_rng(seed)
    many = [series(rng, length, kind) for length in lengths for kind in range(7)]
    assert [told(one) for one in levels_of_many(many)] == [told(levels_of(one)) for one in many]


def test_the_edge_of_every_question_is_left_to_the_one_who_answers_it() -> None:
    """Values whose trend or newest change is just what counts, and just less."""
    rng = np.random.default_rng(7)
    many = []
    for size in np.linspace(0.068, 0.072, 21):
        values = np.exp(rng.normal(0, 0.002, 40))
        values[-3:] = np.median(values[:-3]) * (1 + size) * (1 + 1e-6 * np.arange(3))
        many.append(values)
    many += [np.exp(rng.normal(0, 0.02, 40) + slope * np.arange(40))
             for slope in np.linspace(0, 0.002, 60)]  # fmt: skip
    expected = [told(levels_of(one)) for one in many]
    assert [told(one) for one in levels_of_many(many)] == expected
    assert len({str(one) for one in expected}) > 2


@given(st.integers(0, 2**32 - 1), st.integers(8, 40), st.integers(1, 4))
def test_whichever_few_are_left_out_the_median_of_the_others_is_within(
    seed: int, n: int, few: int
) -> None:
    values = np.random.default_rng(seed).normal(0, 1, (1, n))
    (low,), (high,) = medians_without(np.sort(values, axis=1), few)
    ordered = np.sort(values[0])
    left = [np.delete(ordered, slice(at, at + few)) for at in range(n - few + 1)]
    found = [float(np.median(one)) for one in left]
    assert low <= min(found)
    assert high >= max(found)
    if (n - few) % 2:  # the largest ones left out, and the smallest
        assert (low, high) == (min(found), max(found))


TIED = """
12 10 11 11 11 11 9 10 10 9 10 10 10 9 10 8 10 10 9 12 10 10 8 8 10 10 9 8 9 10 10
13 8 7 8 12 7 7 9 11 12 10 11 8 14 13 11 12 11 13 14 11 10 13 11 12 9 9 9 13 12 9 14 11 11 12 10 \
14 12 11 12 11 11 8 12 15 10 12 12 14 12 10 10 11 11 11 9 11 15 11 11
"""
"""Series with a step that is seen only if equal values share a rank: 5 of 5,841 were like that."""


@pytest.mark.parametrize("tied", TIED.strip().splitlines())
def test_a_step_among_equal_values_is_not_overlooked(tied: str) -> None:
    values = np.array(tied.split(), float)
    (found,) = levels_of_many([values])
    assert told(found) == told(levels_of(values)) != ([], None)


@pytest.mark.parametrize("kind", [0, 4], ids=["all different", "ties"])
def test_few_are_asked_alone(monkeypatch: pytest.MonkeyPatch, kind: int) -> None:
    rng = np.random.default_rng(1)
    many = [series(rng, 60, kind) for _ in range(200)]
    alone: list[int] = []
    monkeypatch.setattr(quiet, "levels_of", lambda one: alone.append(1) or levels_of(one))
    levels_of_many(many)
    assert len(alone) < 20


def test_trends_of_many_are_those_of_each() -> None:
    values = np.random.default_rng(3).normal(size=(50, 37))
    every = trends(np.array([ranks(row) for row in values]))
    assert every.tolist() == [trend(row) for row in values]
