"""Pairs that differ in a property of an Op that makes, orders, joins or cuts arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft, module, op_class
from .pair import Pair, Side, differ


def _dimshuffle(d: Draft, order: Any) -> Any:
    return d.square().dimshuffle(order)


def _dropped(d: Draft, drops: bool) -> Any:
    x = d.input([[1.0, 2.0, 3.0]], shape=(1, None))
    return x.dimshuffle(1) if drops else x.dimshuffle(1, 0)


def _join(d: Draft, axis: int) -> Any:
    return d.pt.join(axis, d.square(), d.positive())


def _split(d: Draft, axis: int) -> Any:
    return d.pt.split(d.square(), d.constant([1, 2], "int64"), n_splits=2, axis=axis)


def _split_several(d: Draft, several: int) -> Any:
    sizes = d.constant([2, 2] if several == 2 else [2, 1, 1], "int64")
    return d.pt.split(d.matrix(), sizes, n_splits=several, axis=1)[:2]


def _reshape(d: Draft, ndim: int) -> Any:
    shape = d.input([4] + [1] * (ndim - 1), "int64", shape=(ndim,))
    return d.op("Reshape", ndim)(d.input([1.0, 2.0, 3.0, 4.0]), shape)


def _shape_i(d: Draft, i: int) -> Any:
    return d.op("Shape_i", i)(d.matrix())


def _specify(d: Draft, known: tuple[Any, Any]) -> Any:
    """Of a matrix with 3 rows and 4 columns: it raises where another length is said to be known."""
    return module("tensor.shape").specify_shape(d.matrix(), known) * 2.0


def _arange(d: Draft, dtype: str) -> Any:
    return d.pt.arange(d.input(1, "int64"), d.input(7, "int64"), d.input(2, "int64"), dtype=dtype)


def _eye(d: Draft, dtype: str) -> Any:
    return d.pt.eye(d.input(3, "int64"), d.input(4, "int64"), d.input(1, "int64"), dtype=dtype)


def _empty(d: Draft, dtype: str) -> Any:
    """What it holds is anything, so nothing of it is returned."""
    return d.op("AllocEmpty", dtype=dtype)(d.input(3, "int64"))[:0]


def alloc_of_rows(d: Draft, rows: int, known: int | None) -> Any:
    """A stack of matrices: the value has as many rows, of which its type knows ``known``.

    A stack, because rewrites drop an Alloc that only repeats what is there.
    """
    x = d.input([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]][:rows], shape=(known, None))
    return d.pt.alloc(x, *(d.input(length, "int64") for length in (4, max(rows, 2), 2)))


def _alloc(d: Draft, rows: int) -> Any:
    """The value has one row, which is repeated, or three; only its type says which."""
    return alloc_of_rows(d, rows, rows)


def _alloc_checked(d: Draft, known: int | None) -> Any:
    """One row, which must not be repeated unless the type knows it."""
    return alloc_of_rows(d, 1, known)


def _make_vector(d: Draft, dtype: str) -> Any:
    return d.op("MakeVector", dtype)(d.input(3, "int32"), d.input(-4, "int32"))


def _diagonal(parameter: str, **others: Any) -> Any:
    def build(d: Draft, value: Any) -> Any:
        named: dict[str, Any] = {"offset": 0, "axis1": 0, "axis2": 1, **others, parameter: value}
        return d.op("ExtractDiag", **named)(d.cube())

    return build


def _alloc_diagonal(parameter: str) -> Any:
    def build(d: Draft, value: Any) -> Any:
        named: dict[str, Any] = {"offset": 1, "axis1": 0, "axis2": 2, parameter: value}
        return module("tensor.basic").alloc_diag(d.square(), **named)

    return build


def _sorted(name: str) -> Any:
    def build(d: Draft, axis: int) -> Any:
        return d.op(name, "quicksort", axis=axis)(d.matrix())

    return build


def _stable(d: Draft, kind: str) -> Any:
    """Equal numbers stay in order only if the sort is stable."""
    import numpy as np

    return d.op("ArgSortOp", kind, axis=0)(d.input(np.tile([1.0, 0.0, 1.0, 0.0, 0.0], 20)))


def _search(d: Draft, side: str) -> Any:
    where = d.input([0, 1, 1, 3], "int64")
    return d.op("SearchsortedOp", side=side)(where, d.input([0, 1, 3], "int64"))


def _repeat(d: Draft, axis: int) -> Any:
    return d.op("Repeat", axis=axis)(d.square(), d.input([1, 0, 2], "int64"))


def _unique(parameter: str, other: str, dtype: str) -> Any:
    """The builder of an Op that returns one thing besides, or another one."""

    def build(d: Draft, value: bool) -> Any:
        names = ("return_index", "return_inverse", "return_counts")
        named: dict[str, Any] = dict.fromkeys(names, False)
        named[parameter if value else other] = True
        return d.op("Unique", **named)(d.input([3, 1, 2, 1, 0], dtype))

    return build


def _unique_along(d: Draft, axis: int) -> Any:
    return d.op("Unique", axis=axis)(d.input([[1, 1], [1, 1], [2, 2]], "int64"))


def _ravel(parameter: str) -> Any:
    def build(d: Draft, value: Any) -> Any:
        named = {"mode": "wrap", "order": "C", parameter: value}
        rows, columns = d.input([0, 1, 4], "int64"), d.input([1, 2, 3], "int64")
        return d.op("RavelMultiIndex", **named)(rows, columns, d.constant([3, 4], "int64"))

    return build


def _unravel(d: Draft, order: str) -> Any:
    shape = d.constant([3, 4], "int64")
    return d.op("UnravelIndex", order=order)(d.input([1, 5, 10], "int64"), shape)


def _unravel_first(d: Draft, shape: list[int]) -> Any:
    """An output for each length: one alone is returned in another way."""
    index = d.input([1, 5, 10], "int64")
    found = d.op("UnravelIndex")(index, d.constant(shape, "int64"))
    return found[0] if isinstance(found, list) else found


def _fill_diagonal(d: Draft, offset: int) -> Any:
    x, value = d.square(), d.input(7.5)
    return d.pt.fill_diagonal_offset(x, value, d.constant(offset, "int64"))


def _choose(d: Draft, mode: str) -> Any:
    return d.op("Choose", mode)(d.input([0, 4, 1], "int64"), d.square())


def _permute(d: Draft, inverse: bool) -> Any:
    permutation = d.input([2, 0, 1], "int64")
    if "inverse" in op_class("PermuteRowElements").__props__:
        return d.op("PermuteRowElements", inverse)(d.square(), permutation)
    # Before 3 the Op takes it as an input.
    inverted = d.constant(int(inverse), "int8")
    return d.op("PermuteRowElements")(d.square(), permutation, inverted)


def _pad(d: Draft, mode: str) -> Any:
    return d.pt.pad(d.vector(), (3, 1), mode=mode)


def _pad_width(d: Draft, width: tuple[int, int]) -> Any:
    return d.pt.pad(d.vector(), width, mode="edge")


def _pad_length(d: Draft, length: Any) -> Any:
    more = {} if length is None else {"stat_length": length}
    return d.pt.pad(d.vector(), (1, 1), mode="maximum", **more)


def _join_dims(parameter: str) -> Any:
    def build(d: Draft, value: int) -> Any:
        named: dict[str, Any] = {"start_axis": 0, "n_axes": 2, parameter: value}
        return d.op("JoinDims", **named)(d.cube())

    return build


def _split_dims(d: Draft, axis: int) -> Any:
    x = d.input([[1.0, 2.0], [3.0, 4.0]])
    return d.op("SplitDims", axis)(x, d.input([2, 1], "int64", shape=(2,)))


def _convolved(d: Draft, mode: str) -> Any:
    signal = module("tensor.signal")
    return signal.convolve1d(d.vector(), d.input([1.0, -2.0, 0.5]), mode=mode)


def _convolved_static(d: Draft, length: Any) -> Any:
    """The length of the kernel is in its type, or unknown."""
    kernel = [1.0, -2.0, 0.5] if length != 2 else [1.0, -2.0]
    signal = module("tensor.signal")
    return signal.convolve1d(d.vector(), d.input(kernel, shape=(length,)), mode="valid")


def _convolved_planes(d: Draft, mode: str) -> Any:
    signal = module("tensor.signal")
    return signal.convolve2d(d.matrix(), d.square(), mode=mode)


PAIRS: Mapping[str, Pair] = {
    "differ.props.DimShuffle.new_order": differ(_dimshuffle, (0, 1, "x"), (1, 0, "x")),
    "differ.props.DimShuffle.new_order_inserted": differ(_dimshuffle, (0, "x", 1), ("x", 0, 1)),
    "differ.props.DimShuffle.new_order_dropped": differ(_dropped, False, True),
    "differ.props.Join.axis": differ(_join, 0, 1),
    "differ.props.Split.axis": differ(_split, 0, 1),
    "differ.props.Split.len_splits": differ(_split_several, 2, 3),
    "differ.props.Reshape.ndim": differ(_reshape, 1, 2),
    "differ.props.Shape_i.i": differ(_shape_i, 0, 1),
    "differ.props.SpecifyShape.shape": differ(
        _specify, (3, None), (None, 6), compared="exceptions"
    ),
    "differ.props.ARange.dtype": differ(_arange, "int64", "float64"),
    "differ.props.Eye.dtype": differ(_eye, "float64", "int64"),
    "differ.props.AllocEmpty.dtype": differ(_empty, "float64", "int64"),
    "differ.props.Alloc.value_shape": differ(_alloc, 1, 3),
    "differ.props.Alloc.value_unknown": differ(_alloc_checked, 1, None, compared="exceptions"),
    "differ.props.MakeVector.dtype": differ(_make_vector, "int64", "int32"),
    "differ.props.ExtractDiag.offset": differ(_diagonal("offset"), 0, 1),
    "differ.props.ExtractDiag.axis1": differ(_diagonal("axis1", axis2=2), 0, 1),
    "differ.props.ExtractDiag.axis2": differ(_diagonal("axis2", offset=-1), 1, 2),
    "differ.props.AllocDiag.offset": differ(_alloc_diagonal("offset"), 1, -1),
    "differ.props.AllocDiag.axis1": differ(_alloc_diagonal("axis1"), 0, 1),
    "differ.props.AllocDiag.axis2": differ(_alloc_diagonal("axis2"), 2, 1),
    "differ.props.SortOp.axis": differ(_sorted("SortOp"), 0, 1),
    "differ.props.ArgSortOp.axis": differ(_sorted("ArgSortOp"), 0, 1),
    "differ.props.ArgSortOp.kind": Pair(
        # Any order of equal numbers is right.
        Side(lambda d: _stable(d, "quicksort"), checked=False),
        Side(lambda d: _stable(d, "mergesort")),
    ),
    "differ.props.SearchsortedOp.side": differ(_search, "left", "right"),
    "differ.props.Repeat.axis": differ(_repeat, 0, 1),
    "differ.props.Unique.return_index": differ(
        _unique("return_index", "return_counts", "int64"), False, True
    ),
    "differ.props.Unique.return_inverse": differ(
        _unique("return_inverse", "return_index", "int32"), False, True
    ),
    "differ.props.Unique.return_counts": differ(
        _unique("return_counts", "return_index", "int16"), False, True
    ),
    "differ.props.Unique.axis": differ(_unique_along, 0, 1),
    "differ.props.RavelMultiIndex.mode": differ(_ravel("mode"), "wrap", "clip"),
    "differ.props.RavelMultiIndex.order": differ(_ravel("order"), "C", "F"),
    "differ.props.UnravelIndex.order": differ(_unravel, "C", "F"),
    "differ.outputs.unravelled": differ(_unravel_first, [12], [3, 4]),
    "differ.props.FillDiagonalOffset.offset": differ(_fill_diagonal, 1, -1),
    "differ.props.Choose.mode": differ(_choose, "wrap", "clip"),
    "differ.props.PermuteRowElements.inverse": differ(_permute, False, True),
    "differ.props.Pad.pad_mode": differ(_pad, "edge", "wrap"),
    "differ.props.Pad.static_pad_width": differ(_pad_width, (1, 2), (2, 1)),
    "differ.props.Pad.has_stat_length": differ(_pad_length, None, 1),
    "differ.props.JoinDims.start_axis": differ(_join_dims("start_axis"), 0, 1),
    "differ.props.JoinDims.n_axes": differ(_join_dims("n_axes"), 2, 3),
    "differ.props.SplitDims.axis": differ(_split_dims, 0, 1),
    "differ.props.Convolve1d.mode": differ(_convolved, "full", "valid"),
    "differ.props.Convolve1d.kernel_static": differ(_convolved_static, 3, 2),
    "differ.props.Convolve2d.mode": differ(_convolved_planes, "full", "valid"),
}
