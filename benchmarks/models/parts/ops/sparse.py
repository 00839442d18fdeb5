"""Sparse matrices. They are made of dense inputs, and dense matrices are made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .case import (
    INDICES,
    INDICES_OTHER,
    MATRIX,
    RIGHT,
    SPARSE,
    SPARSE_OTHER,
    SPARSE_SQUARE,
    VECTOR,
    Case,
    Cases,
    Input,
    case,
)

_TWO_ROWS = Input(lambda np: np.array([2, 0]))
_ROWS = Input(lambda np: np.sin(np.arange(20.0) + 1.0).reshape((4, 5)))
_WIDE = Input(lambda np: np.cos(np.arange(10.0)).reshape((5, 2)))


def _sparse(
    build: Callable[..., Any],
    expected: Callable[..., Any],
    *inputs: Input,
    sparse: int = 1,
    layout: str = "csr",
) -> Case:
    """Return a case whose first inputs are sparse.

    ``build`` takes pytensor.sparse and the inputs; ``expected`` takes numpy and dense arrays.
    """

    def made(_: Any, *x: Any) -> Any:
        import pytensor.sparse as ps

        from_dense = getattr(ps, f"{layout}_from_dense")
        found = build(ps, *map(from_dense, x[:sparse]), *x[sparse:])
        return ps.dense_from_sparse(found) if hasattr(found.type, "format") else found

    return case(made, expected, *inputs)


def _product_by_entries(ps: Any, a: Any, b: Any) -> Any:
    """`mul` was renamed, and will go."""
    return getattr(ps, "multiply" if hasattr(ps, "multiply") else "mul")(a, b)


def _csm(ps: Any, x: Any) -> Any:
    data, indices, indptr, shape = ps.csm_properties(x)
    return ps.CSR(data * 2.0, indices, indptr, shape)


def _slope(layout: str) -> Case:
    """Return the case of the derivative of a product by its sparse factor."""

    def build(pt: Any, x: Any, y: Any) -> Any:
        import pytensor.sparse as ps

        product = ps.structured_dot(getattr(ps, f"{layout}_from_dense")(x), y)
        return pt.grad((product * pt.arange(1.0, 3.0)).sum(), x)

    def expected(np: Any, x: Any, y: Any) -> Any:
        return np.where(x != 0.0, (np.ones((4, 2)) * np.arange(1.0, 3.0)) @ y.T, 0.0)

    return case(build, expected, SPARSE if layout == "csc" else SPARSE_OTHER, _WIDE)


# No index is taken twice: PyTensor keeps the slope of one of the two (3.3.8 and before).
def _slope_of_rows(pt: Any, x: Any, i: Any) -> Any:
    import pytensor.sparse as ps

    return pt.grad(ps.sp_sum(ps.get_item_list(ps.csr_from_dense(x), i)), x)


def _slope_of_integers(pt: Any, x: Any, i: Any) -> Any:
    import pytensor.sparse as ps

    taken = ps.get_item_2lists(ps.csr_from_dense(x), i, i + 1)
    return pt.grad((taken * pt.arange(1.0, 5.0)).sum(), x)


def _right_slope_of_integers(np: Any, x: Any, i: Any) -> Any:
    slope = np.zeros_like(x)
    slope[i, i + 1] = np.arange(1.0, 5.0)
    return slope


def _product(_: Any, a: Any, b: Any) -> Any:
    return a @ b


def _diagonal(_: Any, x: Any) -> Any:
    import pytensor.sparse as ps

    return ps.dense_from_sparse(ps.square_diagonal(x))


CASES: Cases = {
    "from_dense": _sparse(lambda _, a: a, lambda _, a: a, SPARSE),
    "transpose": _sparse(lambda ps, a: ps.transpose(a), lambda _, a: a.T, SPARSE),
    "neg": _sparse(lambda ps, a: ps.neg(a), lambda _, a: -a, SPARSE),
    "cast": _sparse(
        lambda ps, a: ps.cast(a, "float32"), lambda _, a: a.astype("float32"), SPARSE
    ),
    "csm": _sparse(_csm, lambda _, a: 2.0 * a, SPARSE),
    "add": _sparse(
        lambda ps, a, b: ps.add(a, b), lambda _, a, b: a + b, SPARSE, SPARSE_OTHER, sparse=2
    ),
    "add_dense": _sparse(lambda ps, a, b: ps.add(a, b), lambda _, a, b: a + b, SPARSE, MATRIX),
    "add_vector": _sparse(
        lambda ps, a, x: ps.structured_add_s_v(a, x),
        lambda np, a, x: np.where(a != 0, a + x, 0),
        SPARSE, VECTOR,
    ),
    "mul": _sparse(
        _product_by_entries, lambda _, a, b: a * b, SPARSE, SPARSE_OTHER, sparse=2
    ),
    "mul_dense": _sparse(_product_by_entries, lambda _, a, b: a * b, SPARSE, MATRIX),
    "mul_vector": _sparse(
        lambda ps, a, x: ps.mul_s_v(a, x), lambda _, a, x: a * x, SPARSE, VECTOR
    ),
    "sum": _sparse(lambda ps, a: ps.sp_sum(a), lambda _, a: a.sum(), SPARSE),
    "diag": _sparse(
        lambda ps, a: ps.diag(a), lambda np, a: np.diag(a), SPARSE_SQUARE, layout="csc"
    ),
    "col_scale": _sparse(
        lambda ps, a, x: ps.col_scale(a, x), lambda _, a, x: a * x, SPARSE_OTHER, VECTOR,
        layout="csc",
    ),
    "row_scale": _sparse(
        lambda ps, a, x: ps.row_scale(a, x), lambda _, a, x: a * x[:, None], SPARSE, RIGHT,
        layout="csc",
    ),
    "hstack": _sparse(
        lambda ps, a, b: ps.hstack([a, b], format="csr"),
        lambda np, a, b: np.hstack([a, b]),
        SPARSE, SPARSE_SQUARE, sparse=2,
    ),
    "vstack": _sparse(
        lambda ps, a, b: ps.vstack([a, b], format="csr"),
        lambda np, a, b: np.vstack([a, b]),
        SPARSE, SPARSE_OTHER, sparse=2,
    ),
    "slice": _sparse(lambda _, a: a[1:3, 0:4], lambda _, a: a[1:3, 0:4], SPARSE),
    "scalar": _sparse(lambda _, a: a[3, 2], lambda _, a: a[3, 2], SPARSE),
    "rows": _sparse(
        lambda ps, a, i: ps.get_item_list(a, i), lambda _, a, i: a[i], SPARSE, INDICES
    ),
    "integers_both": _sparse(
        lambda ps, a, i, j: ps.get_item_2lists(a, i, j),
        lambda _, a, i, j: a[i, j],
        SPARSE_OTHER, INDICES, INDICES_OTHER,
    ),
    "sorted_indices": _sparse(
        lambda ps, a: ps.ensure_sorted_indices(ps.transpose(ps.transpose(a))),
        lambda _, a: a,
        SPARSE_OTHER,
    ),
    "dot": _sparse(lambda ps, a, b: ps.dot(a, b), _product, SPARSE, _WIDE),
    "dot_sparse": _sparse(
        lambda ps, a, b: ps.true_dot(a, b), _product, SPARSE_SQUARE, SPARSE, sparse=2
    ),
    "structured_dot": _sparse(
        lambda ps, a, b: ps.structured_dot(a, b), _product, SPARSE_OTHER, _WIDE, layout="csc"
    ),
    "sampling_dot": _sparse(
        lambda ps, p, x, y: ps.sampling_dot(x, y, p),
        lambda np, p, x, y: np.where(p != 0, p * (x @ y.T), 0.0),
        SPARSE_SQUARE, MATRIX, _ROWS,
    ),
    "add_same_places": _sparse(
        lambda ps, a: ps.add_s_s_data(a, _product_by_entries(ps, a, a)),
        lambda _, a: a + a * a,
        SPARSE,
    ),
    "rows_slope": case(
        _slope_of_rows, lambda np, x, i: np.isin(np.arange(4), i)[:, None] + 0.0 * x,
        SPARSE, _TWO_ROWS,
    ),
    "integers_both_slope": case(
        _slope_of_integers, _right_slope_of_integers, SPARSE, INDICES_OTHER
    ),
    "slope_csc": _slope("csc"),
    "slope_csr": _slope("csr"),
}  # fmt: skip
