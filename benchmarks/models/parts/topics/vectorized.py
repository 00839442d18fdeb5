"""`vectorize_graph`: the graph that it makes against one that was written for a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.case import (
    OTHER,
    SHORT,
    SPD,
    STACK,
    STACK_OF_VECTORS,
    Cases,
)
from ..ops.loops import recurrence
from .topic import BLOCKWISE, topic


def _vectorized(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Build what ``apply`` makes of one operand, and replace that by a batch."""

    def built(pt: Any, batch: Any, *others: Any) -> Any:
        from pytensor.graph.replace import vectorize_graph

        one = pt.tensor("one", dtype=batch.dtype, shape=batch.type.shape[1:])
        return vectorize_graph(apply(pt, one, *others), {one: batch})

    return built


def _normal(pt: Any, x: Any, covariance: Any) -> Any:
    """The log density of a normal distribution, without the constant."""
    lower = pt.linalg.cholesky(covariance)
    scaled = pt.linalg.solve_triangular(lower, x, lower=True, b_ndim=1)
    return -0.5 * pt.sum(scaled**2, axis=-1) - pt.sum(pt.log(pt.diagonal(lower)))


def _right_normal(np: Any, x: Any, covariance: Any) -> Any:
    scaled = np.linalg.solve(np.linalg.cholesky(covariance), x.T).T
    return -0.5 * (scaled**2).sum(axis=-1) - 0.5 * np.linalg.slogdet(covariance)[1]


def _inner(pt: Any, x: Any, y: Any) -> Any:
    from pytensor.compile.builders import OpFromGraph

    a, b = pt.vector(dtype="float64"), pt.vector(dtype="float64")
    return OpFromGraph([a, b], [pt.exp(-(a**2)) * b])(x, y)


def _right_recurrence(np: Any, x: Any) -> Any:
    found, before = np.empty_like(x), np.ones(len(x))
    for at, column in enumerate(x.T):
        before = 0.5 * before + column
        found[:, at] = before
    return found


CASES: Cases = {
    "elementwise": topic(
        _vectorized(lambda pt, x, y: pt.sum(pt.exp(-x) * y)),
        lambda np, x, y: (np.exp(-x) * y).sum(axis=-1),
        SHORT,
        OTHER,
        tells=BLOCKWISE,
    ),
    "elementwise_by_hand": topic(
        lambda pt, x, y: pt.sum(pt.exp(-x) * y, axis=-1),
        lambda np, x, y: (np.exp(-x) * y).sum(axis=-1),
        SHORT,
        OTHER,
        tells=BLOCKWISE,
    ),
    "normal": topic(_vectorized(_normal), _right_normal, STACK_OF_VECTORS, SPD, tells=BLOCKWISE),
    "normal_by_hand": topic(_normal, _right_normal, STACK_OF_VECTORS, SPD, tells=BLOCKWISE),
    "factor": topic(
        _vectorized(lambda pt, a: pt.linalg.cholesky(a)[::-1]),
        lambda np, a: np.linalg.cholesky(a)[:, ::-1],
        STACK,
        tells=BLOCKWISE,
    ),
    "index": topic(
        _vectorized(lambda pt, x, y: x[pt.argsort(y)]),
        lambda np, x, y: x[:, np.argsort(y)],
        SHORT,
        OTHER,
        tells=BLOCKWISE,
    ),
    "op_from_graph": topic(
        _vectorized(_inner),
        lambda np, x, y: np.exp(-(x**2)) * y,
        SHORT,
        OTHER,
        tells=BLOCKWISE,
    ),
    "scan": topic(_vectorized(recurrence), _right_recurrence, SHORT, tells=BLOCKWISE),
}
