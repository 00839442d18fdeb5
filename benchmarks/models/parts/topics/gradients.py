"""Value and gradient in one function or in two, and the gradient before or after rewrites."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..ops.case import SPD, Case, Cases, difference
from ..small import POINT
from .topic import NODES


@dataclass(frozen=True)
class _Density:
    """A log density of a vector of five."""

    build: Callable[[Any, Any], Any]
    """Takes pytensor.tensor and the vector."""
    value: Callable[[Any, Any], Any]
    gradient: Callable[[Any, Any], Any]
    """Both take numpy and the point."""


def _mixture(library: Any, x: Any) -> list[Any]:
    """The weighted log densities of two normals, each of the shape of ``x``."""
    return [-0.5 * (x - 1.0) ** 2 - 1.5, -0.5 * ((x + 2.0) / 0.5) ** 2 - 0.25]


def _right_weight(np: Any, x: Any) -> Any:
    one, other = _mixture(np, x)
    return 1.0 / (1.0 + np.exp(other - one))


def _regression(pt: Any, x: Any) -> Any:
    import numpy as np

    rows = pt.constant(SPD.make(np)[:, [0, 1, 2, 3, 0]])
    return -pt.log1p(pt.exp(-(rows @ x))).sum() - 0.5 * (x**2).sum()


def _right_rows(np: Any) -> Any:
    return SPD.make(np)[:, [0, 1, 2, 3, 0]]


def _normal(pt: Any, x: Any) -> Any:
    import numpy as np

    lower = pt.linalg.cholesky(pt.constant(SPD.make(np)) * pt.exp(x[4]))
    scaled = pt.linalg.solve_triangular(lower, x[:4], lower=True, b_ndim=1)
    return -0.5 * (scaled**2).sum() - pt.log(pt.diag(lower)).sum()


def _right_normal(np: Any, x: Any) -> tuple[Any, Any]:
    inverse, size = np.linalg.inv(SPD.make(np)) / np.exp(x[4]), 4
    square = x[:4] @ inverse @ x[:4]
    value = -0.5 * square - 0.5 * np.linalg.slogdet(SPD.make(np))[1] - 0.5 * size * x[4]
    return value, np.append(-inverse @ x[:4], 0.5 * square - 0.5 * size)


_DENSITIES = {
    "mixture": _Density(
        lambda pt, x: pt.logaddexp(*_mixture(pt, x)).sum(),
        lambda np, x: np.logaddexp(*_mixture(np, x)).sum(),
        lambda np, x: (
            _right_weight(np, x) * (1.0 - x) + (1.0 - _right_weight(np, x)) * -(x + 2.0) / 0.25
        ),
    ),
    "regression": _Density(
        _regression,
        lambda np, x: -np.log1p(np.exp(-(_right_rows(np) @ x))).sum() - 0.5 * (x**2).sum(),
        lambda np, x: _right_rows(np).T @ (1.0 / (1.0 + np.exp(_right_rows(np) @ x))) - x,
    ),
    "normal": _Density(
        _normal, lambda np, x: _right_normal(np, x)[0], lambda np, x: _right_normal(np, x)[1]
    ),
}


def _compiled(
    density: _Density, functions: Callable[[Any, Any, Any], list[list[Any]]]
) -> Callable[[Any], Callable[[Any], Any]]:
    """``functions`` takes pytensor, the vector and its density: the outputs of each function."""

    def compile_in(mode: Any) -> Callable[[Any], Any]:
        import pytensor
        import pytensor.tensor as pt

        x = pt.vector("x", dtype="float64")
        made = [
            pytensor.function([x], outputs, mode=mode)
            for outputs in functions(pytensor, x, density.build(pt, x))
        ]
        return lambda point: tuple(value for function in made for value in function(point))

    return compile_in


def _canonical(pytensor: Any, x: Any, y: Any) -> Any:
    """The gradient of a density that is canonicalised first."""
    from pytensor.graph.rewriting.utils import rewrite_graph

    return pytensor.grad(rewrite_graph(y, include=("canonicalize",), clone=False), x)


_WAYS: dict[str, Callable[[Any, Any, Any], list[list[Any]]]] = {
    "together": lambda pytensor, x, y: [[y, pytensor.grad(y, x)]],
    "apart": lambda pytensor, x, y: [[y], [pytensor.grad(y, x)]],
    "before": lambda pytensor, x, y: [[pytensor.grad(y, x)]],
    "after": lambda pytensor, x, y: [[_canonical(pytensor, x, y)]],
}
"""Value and gradient in one function or in two; the gradient before and after canonicalisation."""


def _case(density: _Density, way: str) -> Case:
    def right() -> Any:
        import numpy as np

        point = np.array(POINT)
        gradient = np.asarray(density.gradient(np, point))
        valued = way in ("together", "apart")
        return (np.asarray(density.value(np, point)), gradient) if valued else (gradient,)

    return Case(
        _compiled(density, _WAYS[way]),
        lambda value: difference(value, right()),
        right=right,
        tells=NODES,
    )


CASES: Cases = {
    f"{name}.{way}": _case(density, way) for name, density in _DENSITIES.items() for way in _WAYS
}
