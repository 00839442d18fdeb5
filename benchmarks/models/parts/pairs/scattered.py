"""Pairs that differ in a property of an Op on sparse matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import NotInThisRelease
from .draft import Draft, module
from .pair import Pair, differ

_BASIC = "sparse.basic"
_MATH = "sparse.math"
_TALL = [[1.0, 0.0, -2.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0], [5.0, 0.0, 0.0]]
_WIDE = [[0.0, 2.0, 0.0, -1.0], [3.0, 0.0, 0.0, 4.0], [0.0, -5.0, 6.0, 0.0]]


def _math() -> str:
    """The module of sums and products: they were among the others before 2.36."""
    try:
        module(_MATH)
    except NotInThisRelease:
        return _BASIC
    return _MATH


def _sparse(d: Draft, kind: str = "csc", values: Any = _TALL) -> Any:
    """Add a sparse input."""
    import scipy.sparse

    variable = getattr(module("sparse"), f"{kind}_matrix")(dtype="float64")
    return d.given(variable, scipy.sparse.csc_matrix(values).asformat(kind))


def _dense(variable: Any) -> Any:
    return module("sparse").dense_from_sparse(variable)


def _format(d: Draft, kind: str) -> Any:
    """Its parts say which format it has."""
    parts = module("sparse").csm_properties(d.op("SparseFromDense", kind, home=_BASIC)(d.matrix()))
    return parts[1]


def _assembled(d: Draft, kind: str) -> Any:
    data = d.input([1.0, 2.0, 3.0])
    pointers, shape = d.input([0, 1, 2, 3], "int32"), d.input([3, 3], "int32")
    indices = d.input([1, 2, 0], "int32")
    return _dense(d.op("CSM", kind, home=_BASIC)(data, indices, pointers, shape))


def _cast(d: Draft, dtype: str) -> Any:
    return _dense(d.op("Cast", dtype, home=_BASIC)(_sparse(d)))


def _stacked(name: str) -> Any:
    def build(d: Draft, dtype: str) -> Any:
        op = d.op(name, format="csc", dtype=dtype, home=_BASIC)
        return _dense(op(_sparse(d), _sparse(d)))

    return build


def _stacked_format(name: str) -> Any:
    def build(d: Draft, kind: str) -> Any:
        op = d.op(name, format=kind, dtype="float64", home=_BASIC)
        return module("sparse").csm_properties(op(_sparse(d), _sparse(d)))[1]

    return build


def _summed(d: Draft, axis: Any) -> Any:
    return d.op("SpSum", axis=axis, home=_math())(_sparse(d))


def _blocks(d: Draft, several: int) -> Any:
    blocks = [_sparse(d) for _ in range(several)]
    home = "sparse.linalg"
    return _dense(d.op("SparseBlockDiagonal", several, format="csc", home=home)(*blocks))


def _combined(name: str, right: Any = _TALL, dense: bool = False) -> Any:
    """The builder of an Op that takes two matrices, whose formats are given."""

    def build(d: Draft, kinds: tuple[str, str]) -> Any:
        x = _sparse(d, kinds[0])
        y = d.input(right) if dense else _sparse(d, kinds[1], right)
        found = getattr(module(_math()), name)(x, y)
        return _dense(found) if hasattr(found.type, "format") else found

    return build


def _from_left(d: Draft, kind: str, rows: int | None = None) -> Any:
    """A dense vector, or matrix of ``rows``, times a sparse matrix."""
    row = [1.0, -2.0, 3.0, 0.5]
    x = d.input(row if rows is None else [row] * rows)
    return module(_math()).dot(x, _sparse(d, kind))


def _scaled(d: Draft, kind: str) -> Any:
    return _dense(module(_math()).mul_s_d(_sparse(d, kind), d.input(2.5)))


def _with_column(name: str) -> Any:
    """The builder of a product with one column, whose type knows that it is one, or with two."""

    def build(d: Draft, one: bool) -> Any:
        values = [[1.0], [2.0], [3.0]] if one else [[1.0, -2.0], [4.0, 5.0], [-3.0, 6.0]]
        y = d.input(values, shape=(3, 1 if one else None))
        return getattr(module(_math()), name)(_sparse(d, "csr"), y)

    return build


def _slope(d: Draft, kind: str, right: str = "") -> Any:
    """The derivative of a product by its sparse factor, whose format is given.

    ``right``: the format of the other factor; empty: it is dense.
    """
    parts = module("sparse").csm_properties(_sparse(d, kind))
    y = _sparse(d, right, _WIDE) if right else d.input(_WIDE)
    slope = _sparse(d, kind, _square(4)) if right else d.input(_square(4))
    name = f"StructuredDotGrad{kind.upper()}"
    return d.op(name, home=_math())(parts[1], parts[2], y, slope)


def _slope_of_column(d: Draft, one: bool) -> Any:
    columns = 1 if one else 2
    parts = module("sparse").csm_properties(_sparse(d, "csr"))
    y = d.input([row[:columns] for row in _WIDE], shape=(3, 1 if one else None))
    slope = d.input([row[:columns] for row in _square(4)], shape=(4, 1 if one else None))
    return d.op("StructuredDotGradCSR", home=_math())(parts[1], parts[2], y, slope)


def _square(size: int) -> list[list[float]]:
    return [[float((row + 1) * (column - 2.5)) for column in range(size)] for row in range(size)]


_COLUMNS_AND_ROWS = ("csc", "csc"), ("csr", "csr")
"""In a layout by columns and in one by rows: numba compiles other code for each."""

_VECTOR = [1.0, -2.0, 3.0]
_ENTRY_BY_ENTRY = {
    "add_s_s": _combined("add_s_s"),
    "add_s_d": _combined("add_s_d", dense=True),
    "structured_add_s_v": _combined("structured_add_s_v", _VECTOR, dense=True),
    "mul_s_s": _combined("mul_s_s"),
    "mul_s_d": _combined("mul_s_d", dense=True),
    "mul_s_v": _combined("mul_s_v", _VECTOR, dense=True),
}

PAIRS: Mapping[str, Pair] = {
    **{
        f"differ.layout.{name}": differ(build, *_COLUMNS_AND_ROWS)
        for name, build in _ENTRY_BY_ENTRY.items()
    },
    "differ.layout.dot": differ(_combined("dot", _WIDE), ("csc", "csr"), ("csr", "csc")),
    "differ.layout.structured_dot": differ(
        _combined("structured_dot", _WIDE), ("csc", "csr"), ("csr", "csc")
    ),
    "differ.layout.structured_dot_equal": differ(
        _combined("structured_dot", _WIDE), *_COLUMNS_AND_ROWS
    ),
    "differ.layout.structured_dot_dense": differ(
        _combined("structured_dot", _WIDE, dense=True), *_COLUMNS_AND_ROWS
    ),
    "differ.layout.dot_vector": differ(_from_left, "csc", "csr"),
    "differ.layout.dot_matrix": differ(lambda d, kind: _from_left(d, kind, 2), "csc", "csr"),
    "differ.layout.scaled": differ(_scaled, "csc", "csr"),
    "differ.layout.slope": differ(_slope, "csc", "csr"),
    "differ.layout.slope_sparse": differ(lambda d, kind: _slope(d, kind, kind), "csc", "csr"),
    "differ.broadcast.sparse_dot": differ(_with_column("dot"), True, False),
    "differ.broadcast.sparse_slope": differ(_slope_of_column, True, False),
    "differ.props.SparseFromDense.format": differ(_format, "csc", "csr"),
    "differ.props.CSM.format": differ(_assembled, "csc", "csr"),
    "differ.props.SparseCast.out_type": differ(_cast, "float32", "int64"),
    "differ.props.HStack.dtype": differ(_stacked("HStack"), "float64", "float32"),
    "differ.props.VStack.dtype": differ(_stacked("VStack"), "float64", "float32"),
    "differ.props.HStack.format": differ(_stacked_format("HStack"), "csc", "csr"),
    "differ.props.VStack.format": differ(_stacked_format("VStack"), "csc", "csr"),
    "differ.props.SpSum.axis": differ(_summed, 0, 1),
    "differ.props.SpSum.axis_none": differ(_summed, 0, None),
    "differ.props.SparseBlockDiagonal.n_inputs": differ(_blocks, 2, 3),
}
