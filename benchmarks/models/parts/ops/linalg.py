"""Linear algebra. What is unique up to a sign only is compared as an absolute value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import NotInThisRelease
from .case import (
    LOWER,
    MATRIX,
    RIGHT,
    RIGHTS,
    SPD,
    SPD_OTHER,
    SQUARE,
    SQUARE_OTHER,
    STACK_OF_VECTORS,
    SYMMETRIC,
    TALL,
    UPPER,
    Case,
    Cases,
    Input,
    case,
    numpys,
    scipys,
)

_LONG = Input(lambda np: np.array([0.5, 1.0, -2.0, 0.25, 4.0, -1.5]))
_TRIDIAGONAL = Input(
    lambda np: (
        np.diag([4.0, 5.0, 3.5, 6.0]) + np.diag([1.0, -0.5, 2.0], 1) + np.diag([0.7, 1.2, -1.1], -1)
    )
)
_STABLE = Input(lambda np: 0.1 * np.cos(np.arange(16.0)).reshape((4, 4)) + np.eye(4) / 3.0)
_WAVES = Input(lambda np: np.cos(np.arange(16.0)).reshape((4, 4)))
_CUBE = Input(
    lambda np: (np.cos(np.arange(36.0) ** 1.5) + 2.0 * np.eye(6).ravel()).reshape(2, 3, 6)
)
_PLATE = Input(lambda np: np.sin(np.arange(6.0) + 0.3).reshape((2, 3)))


def _linalg(
    build: Callable[..., Any], expected: Callable[..., Any], *inputs: Input, limit: float = 1e-8
) -> Case:
    """``build`` takes pytensor.tensor.linalg instead of pytensor.tensor."""
    return case(lambda pt, *x: build(pt.linalg, *x), expected, *inputs, limit=limit)


def _solving(form: str, matrix: Input, right: Input, lower: bool = False) -> Case:
    """Return the case of an equation whose matrix is said to have a form."""

    def build(linalg: Any, a: Any, b: Any) -> Any:
        try:
            return linalg.solve(a, b, assume_a=form, lower=lower, b_ndim=b.ndim)
        except ValueError as error:  # no solver of this form yet
            raise NotInThisRelease(str(error)) from error

    return _linalg(build, lambda np, a, b: np.linalg.solve(a, b), matrix, right)


def _up_to_signs(name: str, *inputs: Input, **options: Any) -> Case:
    """Return the case of a decomposition that SciPy has under the same name."""

    def build(linalg: Any, *x: Any) -> Any:
        return [abs(one) for one in getattr(linalg, name)(*x, **options)]

    def expected(np: Any, *x: Any) -> Any:
        from scipy import linalg

        return tuple(np.abs(one) for one in getattr(linalg, name)(*x, **options))

    return _linalg(build, expected, *inputs)


def _eig(pt: Any, a: Any) -> Any:
    """The eigenvalues in order, and what is left of the equation that defines the vectors."""
    values, vectors = pt.linalg.eig(a)
    return [pt.sort(pt.real(values)), pt.real(a @ vectors - vectors * values)]


def _lu_factor(_: Any, a: Any) -> Any:
    import scipy.linalg

    factors, pivots = scipy.linalg.lu_factor(a)
    return factors, pivots.astype("int32")


def _permutation(np: Any, pivots: Any) -> Any:
    order = np.arange(len(pivots))
    for one, other in enumerate(pivots):
        order[[one, other]] = order[[other, one]]
    return order


CASES: Cases = {
    "cholesky": _linalg(lambda la, a: la.cholesky(a), lambda np, a: np.linalg.cholesky(a), SPD),
    "cholesky_upper": _linalg(
        lambda la, a: la.cholesky(a, lower=False), lambda np, a: np.linalg.cholesky(a).T, SPD
    ),
    "solve_gen": _solving("gen", SQUARE, RIGHT),
    "solve_gen_matrix": _solving("gen", SQUARE, RIGHTS),
    "solve_sym": _solving("sym", SYMMETRIC, RIGHT),
    "solve_pos": _solving("pos", SPD, RIGHT),
    "solve_tridiagonal": _solving("tridiagonal", _TRIDIAGONAL, RIGHT),
    "solve_triangular": _linalg(
        lambda la, a, b: la.solve_triangular(a, b, lower=False, b_ndim=1),
        lambda np, a, b: np.linalg.solve(a, b),
        UPPER, RIGHT,
    ),
    "solve_triangular_lower": _linalg(
        lambda la, a, b: la.solve_triangular(a, b, lower=True, b_ndim=2),
        lambda np, a, b: np.linalg.solve(a, b),
        LOWER, RIGHTS,
    ),
    "solve_triangular_unit": _linalg(
        lambda la, a, b: la.solve_triangular(
            a, b, lower=True, trans=1, unit_diagonal=True, b_ndim=1
        ),
        lambda np, a, b: np.linalg.solve((np.tril(a, -1) + np.eye(4)).T, b),
        LOWER, RIGHT,
    ),
    "cho_solve": _linalg(
        lambda la, a, b: la.cho_solve((a, True), b, b_ndim=1),
        lambda np, a, b: np.linalg.solve(a @ a.T, b),
        LOWER, RIGHT,
    ),
    "lu": _linalg(lambda la, a: la.lu(a), scipys("linalg.lu"), SQUARE_OTHER),
    "lu_factor": _linalg(lambda la, a: la.lu_factor(a), _lu_factor, SQUARE_OTHER),
    "lu_solve": _linalg(
        lambda la, a, b: la.lu_solve(la.lu_factor(a), b, b_ndim=1),
        lambda np, a, b: np.linalg.solve(a, b),
        SQUARE_OTHER, RIGHT,
    ),
    "pivot_to_permutation": _linalg(
        lambda la, p: la.pivot_to_permutation(p, inverse=True),
        _permutation,
        Input(lambda np: np.array([2, 3, 2, 3], dtype="int32")),
    ),
    "qr": _up_to_signs("qr", TALL, mode="economic"),
    "qr_pivoting": _up_to_signs("qr", SQUARE_OTHER, mode="full", pivoting=True),
    "svd": _linalg(
        lambda la, a: [abs(one) for one in la.svd(a, full_matrices=False)],
        lambda np, a: tuple(np.abs(one) for one in np.linalg.svd(a, full_matrices=False)),
        TALL,
    ),
    "svd_values": _linalg(
        lambda la, a: la.svd(a, compute_uv=False),
        lambda np, a: np.linalg.svd(a, compute_uv=False),
        MATRIX,
    ),
    "eig": case(
        _eig, lambda np, a: (np.sort(np.linalg.eigvals(a).real), np.zeros((4, 4))), SPD
    ),
    "eigh": _linalg(
        lambda la, a: [one if number == 0 else abs(one) for number, one in enumerate(la.eigh(a))],
        lambda np, a: (np.linalg.eigh(a)[0], np.abs(np.linalg.eigh(a)[1])),
        SYMMETRIC,
    ),
    "eigh_generalized": _linalg(
        lambda la, a, b: la.eigh(a, b=b)[0],
        lambda np, a, b: np.sort(np.linalg.eigvals(np.linalg.solve(b, a)).real),
        SYMMETRIC, SPD,
    ),
    "eigvalsh": _linalg(
        lambda la, a, b: la.eigvalsh(a, b),
        lambda np, a, b: np.sort(np.linalg.eigvals(np.linalg.solve(b, a)).real),
        SYMMETRIC, SPD_OTHER,
    ),
    "schur": _up_to_signs("schur", SQUARE),
    "qz": _up_to_signs("qz", SQUARE, SQUARE_OTHER),
    "inv": _linalg(lambda la, a: la.inv(a), lambda np, a: np.linalg.inv(a), SQUARE),
    "pinv": _linalg(lambda la, a: la.pinv(a), lambda np, a: np.linalg.pinv(a), TALL),
    "det": _linalg(lambda la, a: la.det(a), lambda np, a: np.linalg.det(a), SQUARE),
    "slogdet": _linalg(
        lambda la, a: la.slogdet(a), lambda np, a: tuple(np.linalg.slogdet(a)), SQUARE_OTHER
    ),
    "kron": _linalg(lambda la, a, b: la.kron(a, b), numpys("kron"), TALL, RIGHTS),
    "expm": _linalg(lambda la, a: la.expm(a), scipys("linalg.expm"), SQUARE),
    "matrix_power": _linalg(
        lambda la, a: la.matrix_power(a, 5), lambda np, a: np.linalg.matrix_power(a, 5), SQUARE
    ),
    "block_diag": _linalg(
        lambda la, a, b: la.block_diag(a, b), scipys("linalg.block_diag"), TALL, STACK_OF_VECTORS
    ),
    "lstsq": _linalg(
        lambda la, a, b: la.lstsq(a, b, -1.0)[0],
        lambda np, a, b: np.linalg.lstsq(a, b, rcond=-1.0)[0],
        TALL, Input(lambda np: np.cos(np.arange(12.0)).reshape((6, 2))),
    ),
    # Its type says matrix: NUMBA returns a matrix of other memory (3.0.0 to 3.3.8).
    "lstsq_vector": _linalg(
        lambda la, a, b: la.lstsq(a, b, -1.0)[0],
        lambda np, a, b: np.linalg.lstsq(a, b, rcond=-1.0)[0],
        TALL, _LONG,
    ),
    "solve_sylvester": _linalg(
        lambda la, a, b, q: la.solve_sylvester(a, b, q),
        scipys("linalg.solve_sylvester"),
        SQUARE, SPD, _WAVES,
    ),
    "solve_discrete_lyapunov": _linalg(
        lambda la, a, q: la.solve_discrete_lyapunov(a, q, method="bilinear"),
        scipys("linalg.solve_discrete_lyapunov"),
        _STABLE, SPD,
    ),
    "solve_discrete_are": _linalg(
        lambda la, a, b, q, r: la.solve_discrete_are(a, b, q, r),
        scipys("linalg.solve_discrete_are"),
        _STABLE, _WAVES, SPD, SPD_OTHER,
    ),
    "tridiagonal_lu": _linalg(
        lambda la, a, b: la.tridiagonal_lu_solve(la.tridiagonal_lu_factor(a), b, b_ndim=1),
        lambda np, a, b: np.linalg.solve(a, b + 0.0),
        _TRIDIAGONAL, Input(lambda np: np.array([2.0, 0.25, -3.0, 1.5])),
    ),
    "tensorsolve": _linalg(
        lambda la, a, b: la.tensorsolve(a, b), lambda np, a, b: np.linalg.tensorsolve(a, b),
        _CUBE, _PLATE,
    ),
}  # fmt: skip
