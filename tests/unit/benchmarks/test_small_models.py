"""The references of the small models, without compiling anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import scipy.stats

from observatory.benchmarks.catalogue import MODELS
from observatory.benchmarks.models.parts.small import Member, SmallModel, point

DRAWN = "randoms"
"""What this model returns is drawn anew each time."""
OWN_INPUTS = ("ops", "topics", "frozen", "c_ops")
"""Graphs with inputs of their own, which `test_ops.py` and `test_topics.py` test."""


def small_models() -> Mapping[str, Mapping[str, Member]]:
    built = {
        name: model.build(None)
        for name, model in MODELS.items()
        if model.members and not model.quick_of
    }
    return {name: one.members for name, one in built.items() if isinstance(one, SmallModel)}


COMPARED = {
    name: members for name, members in small_models().items() if name not in {DRAWN, *OWN_INPUTS}
}
POINT = point()


def expected_of(member: Member) -> Any:
    """What a member must return, from the closure of its error."""
    assert member.error.__closure__ is not None
    (expected,) = (cell.cell_contents for cell in member.error.__closure__)
    return expected(np, POINT)


def built(name: str) -> SmallModel:
    found = MODELS[name].build(None)
    assert isinstance(found, SmallModel)
    return found


@pytest.mark.parametrize("name", small_models())
def test_the_catalogue_names_the_members_of_each_model(name: str) -> None:
    assert tuple(small_models()[name]) == MODELS[name].members


def test_a_right_value_is_right_and_another_members_is_told_whose_it_is() -> None:
    graph = built("lookalikes").graph("triple")
    assert not graph.check(POINT * 3.0).wrong
    assert graph.check(POINT * 2.0).wrong
    assert "is what double returns" in (built("lookalikes").explain(POINT * 2.0) or "")


@pytest.mark.parametrize("name", COMPARED)
def test_no_two_members_of_a_model_return_the_same(name: str) -> None:
    """Else nobody could say whose numbers a wrong value is."""
    errors = {
        (one, other): member.error(expected_of(another))
        for one, member in COMPARED[name].items()
        for other, another in COMPARED[name].items()
    }
    alike = {pair for pair, error in errors.items() if error is not None and error < 1e-6}
    assert alike == {(one, one) for one in COMPARED[name]}


@pytest.mark.parametrize("value", [np.float64(1.0), np.full(5, np.nan), np.ones((5, 1))])
def test_a_value_of_another_shape_or_not_finite_is_wrong(value: object) -> None:
    assert built("lookalikes").graph("double").check(value).wrong


def test_draws_of_the_distribution_are_right_and_those_of_another_are_wrong() -> None:
    rng = np.random.default_rng(1)
    graph = built(DRAWN).graph("normal")
    assert not graph.check(scipy.stats.norm(1.0, 2.0).rvs(2000, random_state=rng)).wrong
    assert graph.check(scipy.stats.norm(1.6, 2.0).rvs(2000, random_state=rng)).wrong
    assert graph.check(np.full(2000, np.nan)).wrong


def test_draws_of_a_discrete_distribution_are_compared_where_they_jump() -> None:
    rng = np.random.default_rng(1)
    graph = built(DRAWN).graph("bernoulli")
    assert not graph.check(rng.binomial(1, 0.3, 2000)).wrong
    assert graph.check(rng.binomial(1, 0.45, 2000)).wrong


def test_an_error_that_is_not_a_number_is_wrong() -> None:
    member = Member(compile=lambda _: np.sin, error=lambda _: float("nan"))
    assert member.check(0.0).wrong
