"""Reductions, over all entries and along axes, and sums that go on (cumsum)."""

from __future__ import annotations

from typing import Any

from .case import (
    BOOLEANS,
    MASK,
    MATRIX,
    ROUGH,
    SINGLE,
    VECTOR,
    Cases,
    Input,
    case,
)

_WITH_ZERO = Input(lambda np: np.array([1.5, 0.0, -2.0, 3.25]))


def _products_of_others(np: Any, x: Any) -> Any:
    return np.array([np.prod(np.delete(x, place)) for place in range(len(x))])


def _cumsum_of_two_layouts(namespace: Any, x: Any) -> Any:
    """One function of a cache, which is stored for two types: contiguous and strided entries."""
    return namespace.cumsum(x)[::2] + namespace.cumsum(x[::2])


CASES: Cases = {
    "sum": case(lambda _, x: x.sum(), lambda _, x: x.sum(), VECTOR),
    "sum_axis": case(lambda _, x: x.sum(axis=0), lambda _, x: x.sum(axis=0), MATRIX),
    "sum_float32": case(lambda _, x: x.sum(), lambda _, x: x.sum(), SINGLE, limit=ROUGH),
    "count": case(lambda _, x: x.sum(axis=1), lambda _, x: x.sum(axis=1), MASK),
    "prod": case(lambda _, x: x.prod(axis=1), lambda _, x: x.prod(axis=1), MATRIX),
    "prod_derivative": case(lambda pt, x: pt.grad(x.prod(), x), _products_of_others, _WITH_ZERO),
    "min": case(lambda _, x: x.min(axis=0), lambda _, x: x.min(axis=0), MATRIX),
    "max": case(lambda _, x: x.max(axis=0), lambda _, x: x.max(axis=0), MATRIX),
    "argmax": case(lambda pt, x: pt.argmax(x, axis=0), lambda _, x: x.argmax(axis=0), MATRIX),
    "mean": case(lambda _, x: x.mean(axis=0), lambda _, x: x.mean(axis=0), MATRIX),
    "var": case(lambda _, x: x.var(axis=1), lambda _, x: x.var(axis=1), MATRIX),
    "all": case(lambda _, x: x.all(axis=0), lambda _, x: x.all(axis=0), MASK),
    "any": case(lambda _, x: x.any(), lambda _, x: x.any(), BOOLEANS),
    "cumsum": case(lambda pt, x: pt.cumsum(x), lambda np, x: np.cumsum(x), VECTOR),
    "cumsum_two_layouts": case(_cumsum_of_two_layouts, _cumsum_of_two_layouts, VECTOR),
    "cumprod": case(
        lambda pt, x: pt.cumprod(x, axis=1), lambda np, x: np.cumprod(x, axis=1), MATRIX
    ),
}
