"""The references of the small models, without compiling anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

from benchmarks.catalogue import MEMBERS
from benchmarks.models import closures, linalg, lookalikes, randoms
from benchmarks.models.parts.small import POINT

MODELS = {
    "lookalikes": lookalikes.MODEL,
    "closures": closures.MODEL,
    "linalg": linalg.MODEL,
    "randoms": randoms.MODEL,
}


def values_of(name: str) -> dict[str, Any]:
    """What each member must return, from the closure of its error."""
    found = {}
    for member_name, member in MODELS[name].members.items():
        assert member.error.__closure__ is not None
        (expected,) = (cell.cell_contents for cell in member.error.__closure__)
        found[member_name] = expected(POINT)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_the_vocabulary_names_the_members_of_each_model(name: str) -> None:
    assert tuple(MODELS[name].members) == MEMBERS[name]


def test_a_right_value_is_right_and_another_members_is_told_whose_it_is() -> None:
    graph = lookalikes.MODEL.graph("triple")
    assert not graph.check(POINT * 3.0).wrong
    assert graph.check(POINT * 2.0).wrong
    assert "is what double returns" in (lookalikes.MODEL.explain(POINT * 2.0) or "")


@pytest.mark.parametrize("name", ["lookalikes", "closures", "linalg"])
def test_no_two_members_of_a_model_return_the_same(name: str) -> None:
    """Else nobody could say whose numbers a wrong value is."""
    errors = {
        (one, other): member.error(value)
        for one, member in MODELS[name].members.items()
        for other, value in values_of(name).items()
    }
    alike = {pair for pair, error in errors.items() if error is not None and error < 1e-6}
    assert alike == {(one, one) for one in MODELS[name].members}


@pytest.mark.parametrize("value", [np.float64(1.0), np.full(5, np.nan), np.ones((5, 1))])
def test_a_value_of_another_shape_or_not_finite_is_wrong(value: object) -> None:
    assert lookalikes.MODEL.graph("double").check(value).wrong


def test_draws_of_the_distribution_are_right_and_those_of_another_are_wrong() -> None:
    rng = np.random.default_rng(1)
    graph = randoms.MODEL.graph("normal")
    assert not graph.check(scipy.stats.norm(1.0, 2.0).rvs(2000, random_state=rng)).wrong
    assert graph.check(scipy.stats.norm(1.6, 2.0).rvs(2000, random_state=rng)).wrong
    assert graph.check(np.full(2000, np.nan)).wrong


def test_draws_of_a_discrete_distribution_are_compared_where_they_jump() -> None:
    rng = np.random.default_rng(1)
    graph = randoms.MODEL.graph("bernoulli")
    assert not graph.check(rng.binomial(1, 0.3, 2000)).wrong
    assert graph.check(rng.binomial(1, 0.45, 2000)).wrong
