"""The registry of Ops: its names, and its right values. Nothing is compiled."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.stats

from observatory.benchmarks.models import NotInThisRelease
from observatory.benchmarks.models.ops import GRAPHS, GROUPS, MODEL
from observatory.benchmarks.models.parts.ops import case as described
from observatory.benchmarks.models.parts.ops.case import Case, Input, case, difference

FEWEST = 120
DISCRETE_OR_NOT = np.array([1.0, 2.0, 3.0])


def test_there_are_enough_members_and_all_have_a_group() -> None:
    assert len(GRAPHS) >= FEWEST
    assert len(GRAPHS) == sum(len(cases) for cases in GROUPS.values())
    assert all(GROUPS.values())
    assert MODEL.members == tuple(GRAPHS)


@pytest.mark.parametrize("group", GROUPS)
def test_names_are_lower_case_and_start_with_their_group(group: str) -> None:
    for name in GROUPS[group]:
        assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)?", name), name
        assert f"{group}.{name}" in GRAPHS


def test_every_module_of_cases_is_a_group() -> None:
    import pkgutil
    from importlib import import_module

    from observatory.benchmarks.models.parts import ops

    modules = [
        import_module(f"{ops.__name__}.{m.name}") for m in pkgutil.iter_modules(ops.__path__)
    ]
    found = [module.CASES for module in modules if hasattr(module, "CASES")]
    assert len(found) == len(GROUPS)
    assert all(any(cases is group for group in GROUPS.values()) for cases in found)


def rights() -> Mapping[str, Any]:
    return {name: one.right() for name, one in GRAPHS.items()}


def test_every_right_value_is_finite_and_right() -> None:
    for name, value in rights().items():
        outputs = value if isinstance(value, tuple) else (value,)
        assert all(np.all(np.isfinite(one)) for one in outputs), name
        assert not GRAPHS[name].check(value).wrong, name


def test_no_two_members_return_the_same() -> None:
    """Else nobody could say whose numbers a wrong value is."""
    alike = {
        (name, other)
        for other, value in rights().items()
        for name, one in GRAPHS.items()
        if name != other and not one.check(value).wrong
    }
    assert alike == set()


def test_a_value_of_another_member_is_told_whose_it_is() -> None:
    model = MODEL.build(None)
    note = model.explain(GRAPHS["linalg.slogdet"].right())
    assert note is not None
    assert "is what linalg.slogdet returns" in note


@pytest.mark.parametrize(
    "value",
    [
        np.float64(1.0),
        (DISCRETE_OR_NOT, DISCRETE_OR_NOT),
        DISCRETE_OR_NOT[:, None],
        DISCRETE_OR_NOT.astype("float32"),
        np.array([1.0, 2.0, np.nan]),
        np.array([1.0, 2.0, 3.1]),
    ],
)
def test_another_number_shape_dtype_or_value_is_wrong(value: Any) -> None:
    one = case(lambda pt, x: x, lambda np, x: x, Input(lambda _: DISCRETE_OR_NOT))
    assert not one.check(DISCRETE_OR_NOT).wrong
    assert one.check(value).wrong


def test_an_imaginary_part_counts() -> None:
    right = np.array([1.0 + 2.0j])
    assert difference(right, right) == 0.0
    assert (difference(np.array([1.0 + 2.1j]), right) or 0.0) > 0.01


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("normal", lambda rng: rng.normal(-4.6, 2.0, 1000)),
        ("cauchy", lambda _: scipy.stats.cauchy(-400.0, 15.0).rvs(1000, random_state=1)),
        ("poisson", lambda rng: rng.poisson(3.0, 1000)),
        ("normal.vector_parameters", lambda rng: rng.normal([0, 5, -3], [1, 2.5, 0.5], (1000, 3))),
        ("multivariate_normal", lambda rng: rng.normal([1, -2], [2**0.5, 1], (1000, 2))),
        ("dirichlet", lambda rng: rng.beta([2, 5, 3], [8, 5, 7], (1000, 3))),
        ("permutation", lambda _: np.arange(1000.0) * 2.0 + 100.0),
        ("choice.without_replacement", lambda rng: rng.choice(np.arange(100.0, 2100.0, 2.0), 500)),
    ],
)
def test_draws_of_another_distribution_are_wrong(name: str, wrong: Any) -> None:
    assert GRAPHS[f"random.{name}"].check(wrong(np.random.default_rng(3))).wrong


class NoSuchOp(ModuleType):
    """A pytensor.tensor that can make inputs, and has one function of an older signature."""

    def tensor(self, name: str, dtype: str, shape: tuple[int | None, ...]) -> Any:
        return (name, dtype, shape)

    def old(self, x: Any) -> Any:
        return x


def _imports(*_: Any) -> Any:
    from pytensor.tensor import no_such_name  # noqa: F401 - the missing name is the test


@pytest.mark.parametrize(
    "build", [lambda pt, x: pt.newer(x), lambda pt, x: pt.old(x, option=1), _imports]
)
def test_a_graph_that_cannot_be_made_is_not_in_this_release(
    monkeypatch: pytest.MonkeyPatch, build: Any
) -> None:
    tensor = NoSuchOp("pytensor.tensor")
    parent = ModuleType("pytensor")
    parent.tensor = tensor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pytensor", parent)
    monkeypatch.setitem(sys.modules, "pytensor.tensor", tensor)
    one: Case = case(build, lambda np, x: x, described.VECTOR)
    with pytest.raises(NotInThisRelease):
        one.compile(None)


def test_an_exception_of_compiling_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = NoSuchOp("pytensor.tensor")
    parent = ModuleType("pytensor")
    parent.tensor = tensor  # type: ignore[attr-defined]

    def function(*_: Any, **__: Any) -> Any:
        raise TypeError("no code")

    parent.function = function  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pytensor", parent)
    monkeypatch.setitem(sys.modules, "pytensor.tensor", tensor)
    one = case(lambda pt, x: pt.old(x), lambda np, x: x, described.VECTOR)
    with pytest.raises(TypeError, match="no code"):
        one.compile(None)
