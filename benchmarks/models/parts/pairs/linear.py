"""Pairs that differ in a property of an Op of linear algebra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .draft import Draft
from .pair import Pair, differ


def _of(name: str, matrix: str, parameter: str, **others: Any) -> Any:
    """The builder of an Op of one matrix, one of whose parameters differs."""

    def build(d: Draft, value: Any) -> Any:
        return d.op(name, **others, **{parameter: value})(getattr(d, matrix)())

    return build


def _tall(name: str, parameter: str, **others: Any) -> Any:
    """The same with a matrix of more columns than rows, whose modes have other shapes."""

    def build(d: Draft, value: Any) -> Any:
        return d.op(name, **others, **{parameter: value})(d.matrix().T / 8.0)

    return build


def _solve(name: str, matrix: str, parameter: str, **others: Any) -> Any:
    """The builder of an Op that solves a system for a vector."""

    def build(d: Draft, value: Any) -> Any:
        named = {"b_ndim": 1, **others, parameter: value}
        right = d.input([1.0, -2.0, 3.0] if named["b_ndim"] == 1 else [[1.0], [-2.0], [3.0]])
        return d.op(name, **named)(getattr(d, matrix)(), right)

    return build


def _columns(name: str, matrix: str, **others: Any) -> Any:
    """Of a square right-hand side, which is one matrix or a batch of vectors."""

    def build(d: Draft, b_ndim: int) -> Any:
        batched = d.op("Blockwise", d.op(name, b_ndim=b_ndim, **others))
        right = d.input([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0], [7.0, 8.0, 9.0]])
        return batched(getattr(d, matrix)(), right)

    return build


def _batched(d: Draft, lower: bool) -> Any:
    import numpy as np

    matrix = np.array([[4.0, 1.0, -0.5], [1.0, 3.0, 0.75], [-0.5, 0.75, 5.0]])
    core = d.op("Cholesky", lower=lower)
    return d.op("Blockwise", core)(d.input(np.stack([matrix, 2.0 * matrix])))


def _signature(d: Draft, over_rows: bool) -> Any:
    """One Op over the batch of all but the last axis, or of all but the last two."""
    op = d.op("CumOp", axis=0, mode="add")
    signature = "(n)->(n)" if over_rows else "(n,m)->(n,m)"
    return d.op("Blockwise", op, signature=signature)(d.cube())


def _permuted(d: Draft, inverse: bool) -> Any:
    return d.op("PivotToPermutations", inverse=inverse)(d.input([2, 2, 2], "int32"))


def _tensor_inverse(d: Draft, ind: int) -> Any:
    """An array of shape (4, 2, 2) or (2, 2, 4) in one: of shape (2, 2, 2, 2) with another split."""
    import numpy as np

    shape = (4, 2, 2) if ind == 1 else (2, 2, 4)
    values = np.eye(4) + np.arange(16.0).reshape(4, 4) / 32.0
    return d.op("TensorInv", ind)(d.input(values.reshape(shape)))


def _tensor_solve(d: Draft, axes: Any) -> Any:
    import numpy as np

    values = np.eye(4) * 3.0 + np.arange(16.0).reshape(4, 4) / 8.0
    right = d.input([[1.0, 2.0], [3.0, 4.0]])
    return d.op("TensorSolve", axes)(d.input(values.reshape(2, 2, 2, 2)), right)


def _blocks(d: Draft, several: int) -> Any:
    blocks = [d.square() for _ in range(several)]
    return d.op("BlockDiagonal", several)(*blocks)


def _tridiagonal(d: Draft, transposed: bool) -> Any:
    below, middle, above = d.input([1.0, 0.5]), d.input([4.0, 3.0, 5.0]), d.input([-1.0, 0.25])
    factors = d.op("LUFactorTridiagonal")(below, middle, above)
    solve = d.op("SolveLUFactorTridiagonal", b_ndim=1, transposed=transposed)
    return solve(*factors, d.input([1.0, -2.0, 3.0]))


def _lu_solve(d: Draft, transposed: bool) -> Any:
    right = d.input([1.0, -2.0, 3.0])
    linalg = d.pt.linalg
    return linalg.lu_solve(linalg.lu_factor(d.square()), right, trans=transposed, b_ndim=1)


def _schur(d: Draft, output: str) -> Any:
    return d.op("Schur", output=output)(d.square())


def _schur_sorted(d: Draft, order: Any) -> Any:
    """Its eigenvalues have two signs: which come first depends on the order."""
    matrix = d.input([[1.0, 2.0, 0.5], [0.0, -3.0, 1.0], [0.0, 0.0, 2.0]])
    return d.op("Schur", output="real", sort=order)(matrix)


def _generalized(name: str, parameter: str) -> Any:
    """The builder of an Op of two matrices."""

    def build(d: Draft, value: Any) -> Any:
        return d.op(name, **{parameter: value})(d.square(), d.positive())

    return build


def _tridiagonal_columns(d: Draft, b_ndim: int) -> Any:
    """A right-hand side with as many dimensions."""
    below, middle, above = d.input([1.0, 0.5]), d.input([4.0, 3.0, 5.0]), d.input([-1.0, 0.25])
    factors = d.op("LUFactorTridiagonal")(below, middle, above)
    right = d.input([1.0, -2.0, 3.0] if b_ndim == 1 else [[1.0, 4.0], [-2.0, 5.0], [3.0, 6.0]])
    return d.op("SolveLUFactorTridiagonal", b_ndim=b_ndim, transposed=False)(*factors, right)


def _transposed(d: Draft, transposed: bool) -> Any:
    x, y = d.square(), d.positive()
    return d.pt.dot(x.T if transposed else x, y[:, :2])


def _norm(d: Draft, order: Any) -> Any:
    return d.pt.linalg.norm(d.square(), ord=order)


def _power(d: Draft, exponent: int) -> Any:
    return d.pt.linalg.matrix_power(d.square(), exponent)


def _of_either(build: Callable[[Draft, Any], Any]) -> Any:
    """The builder of an Op without properties, of one of two matrices."""

    def built(d: Draft, first: bool) -> Any:
        x, y = d.square(), d.positive()
        return build(d, x if first else y)

    return built


def _integers(d: Draft, dtype: str) -> Any:
    return d.pt.dot(d.matrix(dtype), d.matrix(dtype).T)


PAIRS: Mapping[str, Pair] = {
    "differ.props.Cholesky.lower": differ(_of("Cholesky", "positive", "lower"), True, False),
    "differ.props.Eigh.lower": differ(_of("Eigh", "square", "lower"), True, False),
    "differ.props.Eigh.UPLO": differ(_of("Eigh", "square", "UPLO"), "L", "U"),
    "differ.props.SVD.full_matrices": differ(
        _tall("SVD", "full_matrices", compute_uv=True), True, False, compared="types"
    ),
    "differ.props.SVD.compute_uv": differ(
        _tall("SVD", "compute_uv", full_matrices=False), False, True, compared="types"
    ),
    "differ.props.QR.mode": differ(_tall("QR", "mode"), "full", "economic"),
    "differ.props.QR.pivoting": differ(_tall("QR", "pivoting", mode="economic"), False, True),
    "differ.props.LU.permute_l": differ(_of("LU", "square", "permute_l"), False, True),
    "differ.props.LU.p_indices": differ(_of("LU", "square", "p_indices"), False, True),
    "differ.props.PivotToPermutations.inverse": differ(_permuted, False, True),
    "differ.props.Schur.output": differ(_schur, "real", "complex"),
    "differ.props.Schur.sort": differ(_schur_sorted, "lhp", "rhp"),
    # Of any other matrix, the value with `hermitian` is not defined.
    "differ.props.MatrixPinv.hermitian": differ(
        _of("MatrixPinv", "positive", "hermitian"), False, True
    ),
    "differ.props.TensorInv.ind": differ(_tensor_inverse, 1, 2),
    "differ.props.TensorSolve.axes": differ(_tensor_solve, None, (0,)),
    "differ.props.BlockDiagonal.n_inputs": differ(_blocks, 2, 3),
    "differ.props.Solve.assume_a": differ(_solve("Solve", "square", "assume_a"), "gen", "sym"),
    "differ.props.Solve.assume_a_positive": differ(
        _solve("Solve", "square", "assume_a"), "gen", "pos"
    ),
    "differ.props.Solve.lower": differ(
        _solve("Solve", "square", "lower", assume_a="sym"), False, True
    ),
    "differ.props.Solve.b_ndim": differ(_columns("Solve", "square"), 1, 2),
    "differ.props.SolveTriangular.lower": differ(
        _solve("SolveTriangular", "square", "lower"), False, True
    ),
    "differ.props.SolveTriangular.unit_diagonal": differ(
        _solve("SolveTriangular", "square", "unit_diagonal", lower=True), False, True
    ),
    "differ.props.SolveTriangular.trans": differ(
        _solve("SolveTriangular", "square", "trans", lower=True), 0, 1
    ),
    "differ.props.SolveTriangular.b_ndim": differ(
        _columns("SolveTriangular", "square", lower=True), 1, 2
    ),
    "differ.props.CholeskySolve.lower": differ(
        _solve("CholeskySolve", "square", "lower"), False, True
    ),
    "differ.props.CholeskySolve.b_ndim": differ(
        _columns("CholeskySolve", "square", lower=True), 1, 2
    ),
    "differ.props.SolveLUFactorTridiagonal.transposed": differ(_tridiagonal, False, True),
    "differ.props.SolveLUFactorTridiagonal.b_ndim": differ(_tridiagonal_columns, 1, 2),
    "differ.props.Eigvalsh.lower": differ(_generalized("Eigvalsh", "lower"), True, False),
    "differ.props.QZ.complex_output": differ(
        _generalized("QZ", "complex_output"), False, True, compared="types"
    ),
    "differ.props.QZ.return_eigenvalues": differ(
        _generalized("QZ", "return_eigenvalues"), False, True, compared="types"
    ),
    "differ.props.lu_solve.trans": differ(_lu_solve, False, True),
    "differ.props.Blockwise.core_op": differ(_batched, True, False),
    "differ.props.Blockwise.signature": differ(_signature, True, False),
    "differ.inputs.determinant": differ(_of_either(lambda d, x: d.pt.linalg.det(x)), True, False),
    "differ.inputs.eigenvalues": differ(
        _of_either(lambda d, x: d.pt.linalg.eig(x)[0]), True, False, compared="types"
    ),
    "differ.inputs.sylvester": differ(
        _of_either(lambda d, x: d.pt.linalg.solve_sylvester(x, x, x.T)), True, False
    ),
    "differ.inputs.filled_diagonal": differ(
        _of_either(lambda d, x: d.pt.fill_diagonal(x, 7.5)), True, False
    ),
    "differ.types.dot_of_integers": differ(_integers, "int64", "int32"),
    "differ.props.Dot.transposed": differ(_transposed, False, True),
    "differ.props.norm.ord": differ(_norm, 1, "fro"),
    "differ.props.matrix_power.n": differ(_power, 2, 3),
}
