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


PAIRS: Mapping[str, Pair] = {
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
