"""Linear algebra, one operation a graph, on a matrix that is made of the input vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.models.small import POINT, Member, SmallModel, equal_to, in_pytensor

Matrix = NDArray[np.float64]


def _member(
    build: Callable[[Any, Any, Any], Any], expected: Callable[[Matrix, Any], Any]
) -> Member:
    """``build`` takes pytensor.tensor.linalg, the matrix and the vector."""
    size = POINT.size

    def graph(pt: Any, x: Any) -> Any:
        import pytensor.tensor.linalg as linalg

        return build(linalg, 4.0 * pt.eye(size) + x[:, None] * x[None, :], x)

    return Member(
        in_pytensor(graph), equal_to(lambda x: expected(4.0 * np.eye(size) + np.outer(x, x), x))
    )


MODEL = SmallModel(
    {
        "cholesky": _member(lambda la, a, _: la.cholesky(a), lambda a, _: np.linalg.cholesky(a)),
        "solve": _member(lambda la, a, x: la.solve(a, x), np.linalg.solve),
        "solve_triangular": _member(
            lambda la, a, x: la.solve_triangular(a, x, lower=True),
            lambda a, x: np.linalg.solve(np.tril(a), x),
        ),
        "determinant": _member(lambda la, a, _: la.det(a), lambda a, _: np.linalg.det(a)),
        "inverse": _member(lambda la, a, _: la.inv(a), lambda a, _: np.linalg.inv(a)),
        "eigenvalues": _member(lambda la, a, _: la.eigh(a)[0], lambda a, _: np.linalg.eigvalsh(a)),
        "singular_values": _member(
            lambda la, a, _: la.svd(a, compute_uv=False),
            lambda a, _: np.linalg.svd(a, compute_uv=False),
        ),
        # Columns are unique up to their sign.
        "qr": _member(lambda la, a, _: abs(la.qr(a)[1]), lambda a, _: abs(np.linalg.qr(a)[1])),
    }
)
