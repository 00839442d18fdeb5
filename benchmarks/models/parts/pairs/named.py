"""Pairs that differ in a property of an Op on arrays with named dimensions (`xtensor`).

Rewrites replace these Ops by others before a key is made; also before the reference is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft, module
from .pair import Pair, differ


def _named(value: Any, dims: tuple[str, ...]) -> Any:
    return module("xtensor").as_xtensor(value, dims=dims)


def _rows(d: Draft) -> Any:
    return _named(d.matrix(), ("row", "column"))


def _transposed(d: Draft, dims: tuple[str, ...]) -> Any:
    return _rows(d).transpose(*dims).values


def _summed(d: Draft, dim: str) -> Any:
    return _rows(d).sum(dim).values


def _accumulated(d: Draft, dim: str) -> Any:
    return _rows(d).cumsum(dim).values


def _joined(d: Draft, dim: str) -> Any:
    square = ("row", "column")
    both = [_named(d.square(), square), _named(d.positive(), square)]
    return module("xtensor").concat(both, dim=dim).values


def _stacked(d: Draft, dims: tuple[str, ...]) -> Any:
    cube = _named(d.cube(), ("plane", "row", "column"))
    return cube.stack({"all": dims}).values


def _multiplied(d: Draft, dims: tuple[str, ...]) -> Any:
    square = ("row", "column")
    x, y = _named(d.square(), square), _named(d.positive(), square)
    return x.dot(y, dim=dims).values


def _renamed(d: Draft, dims: tuple[str, ...]) -> Any:
    """The names decide how it broadcasts."""
    x = _named(d.square(), ("row", "column"))
    return (x + _named(d.square(), dims)).values


def _indexed(d: Draft, dim: str) -> Any:
    return _rows(d).isel({dim: 1}).values


def _pair(build: Any, first: Any, second: Any) -> Pair:
    return differ(build, first, second, rewrites="minimum_compile")


_SWAPPED = (("row", "column"), ("column", "row"))

PAIRS: Mapping[str, Pair] = {
    "differ.props.XTranspose.dims": _pair(_transposed, *_SWAPPED),
    "differ.props.XReduce.dims": _pair(_summed, "row", "column"),
    "differ.props.XCumReduce.dims": _pair(_accumulated, "row", "column"),
    "differ.props.XConcat.dim": _pair(_joined, "row", "column"),
    "differ.props.XStack.stacked_dims": _pair(_stacked, ("plane", "row"), ("row", "column")),
    "differ.props.XDot.dims": _pair(_multiplied, ("row",), ("column",)),
    "differ.props.XTensorFromTensor.dims": _pair(_renamed, *_SWAPPED),
    "differ.props.XIndex.dim": _pair(_indexed, "row", "column"),
}
