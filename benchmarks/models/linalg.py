"""Linear algebra: one operation for each graph, on a matrix that is made of the input vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import Model
from .parts.small import POINT, Member, SmallModel, equal_to, in_pytensor


def _member(
    build: Callable[[Any, Any, Any], Any], expected: Callable[[Any, Any, Any], Any]
) -> Member:
    """``build`` takes pytensor.tensor.linalg, ``expected`` numpy; then matrix and vector."""
    size = len(POINT)

    def graph(pt: Any, x: Any) -> Any:
        import pytensor.tensor.linalg as linalg

        return build(linalg, 4.0 * pt.eye(size) + x[:, None] * x[None, :], x)

    def right(np: Any, x: Any) -> Any:
        return expected(np, 4.0 * np.eye(size) + np.outer(x, x), x)

    return Member(in_pytensor(graph), equal_to(right))


_GRAPHS = {
    "cholesky": _member(lambda la, a, _: la.cholesky(a), lambda np, a, _: np.linalg.cholesky(a)),
    "solve": _member(lambda la, a, x: la.solve(a, x), lambda np, a, x: np.linalg.solve(a, x)),
    "solve_triangular": _member(
        lambda la, a, x: la.solve_triangular(a, x, lower=True),
        lambda np, a, x: np.linalg.solve(np.tril(a), x),
    ),
    "determinant": _member(lambda la, a, _: la.det(a), lambda np, a, _: np.linalg.det(a)),
    "inverse": _member(lambda la, a, _: la.inv(a), lambda np, a, _: np.linalg.inv(a)),
    "eigenvalues": _member(lambda la, a, _: la.eigh(a)[0], lambda np, a, _: np.linalg.eigvalsh(a)),
    "singular_values": _member(
        lambda la, a, _: la.svd(a, compute_uv=False),
        lambda np, a, _: np.linalg.svd(a, compute_uv=False),
    ),
    # Columns are unique up to their sign.
    "qr": _member(lambda la, a, _: abs(la.qr(a)[1]), lambda np, a, _: abs(np.linalg.qr(a)[1])),
}

MODEL = Model(
    meaning="graphs of one operation of linear algebra each",
    reference="NumPy",
    build=lambda _: SmallModel(_GRAPHS),
    families=("upgrade",),
    members=tuple(_GRAPHS),
    without=("C",),
    because="C alone has no code for some of its operations; C_VM leaves those to Python",
    order=5,
)
