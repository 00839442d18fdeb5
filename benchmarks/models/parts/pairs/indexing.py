"""Pairs that differ in a property of an Op that reads or sets a part of an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft
from .pair import Pair, differ


def _read(d: Draft, index: Any) -> Any:
    return d.square()[index]


def _stepped(d: Draft, fields: str) -> Any:
    """Which fields of a slice there are: their values are inputs."""
    i = d.input(2, "int64")
    known = {"start": slice(i, None), "stop": slice(None, i), "step": slice(None, None, i)}
    return d.vector()[known[fields]]


def _rows_or_columns(d: Draft, columns: bool) -> Any:
    i, x = d.input(1, "int64"), d.square()
    return x[:, i] if columns else x[i]


def _written(d: Draft, sets: bool) -> Any:
    part = d.vector()[1:4]
    value = d.input([10.0, 20.0, 30.0])
    return part.set(value) if sets else part.inc(value)


def _written_index(d: Draft, columns: bool) -> Any:
    x, i, value = d.square(), d.input(1, "int64"), d.input([10.0, 20.0, 30.0])
    return (x[:, i] if columns else x[i]).set(value)


def _written_many(d: Draft, sets: bool) -> Any:
    part = d.vector()[d.counts()]
    value = d.input([10.0, 20.0, 30.0, 40.0, 50.0])
    return part.set(value) if sets else part.inc(value)


def _duplicates(d: Draft, ignored: bool) -> Any:
    part = d.vector()[d.counts()]
    return part.inc(d.input(10.0), ignore_duplicates=ignored)


def _written_booleans(d: Draft, sets: bool) -> Any:
    part = d.vector()[d.input([1, 0, 1, 1, 0], "bool")]
    return part.set(d.input(10.0)) if sets else part.inc(d.input(10.0))


def _advanced(d: Draft, columns: bool) -> Any:
    x, i = d.square(), d.input([2, 0, 2], "int64")
    return x[:, i] if columns else x[i]


def _advanced_swapped(d: Draft, swapped: bool) -> Any:
    """The two indices change places; in the list of the Op, not among its inputs."""
    x, i, j = d.square(), d.input([0, 1, 2], "int64"), d.input([2, 2, 0], "int64")
    return x[j, i] if swapped else x[i, j]


def _advanced_planes(d: Draft, last: bool) -> Any:
    """Indices of two dimensions, which numba leaves to Python in some releases."""
    x, i = d.cube(), d.input([[0, 1], [1, 0]], "int64")
    return x[:, :, i] if last else x[:, i]


def _advanced_apart(d: Draft, apart: bool) -> Any:
    """Indices with a slice between them move to the front."""
    x, i, j = d.cube(), d.input([0, 1], "int64"), d.input([2, 0], "int64")
    return x[i, :, j] if apart else x[i, j]


def _masked(d: Draft, columns: bool) -> Any:
    x, mask = d.square(), d.input([1, 0, 1], "bool")
    return x[:, mask] if columns else x[mask]


def _written_columns(d: Draft, columns: bool) -> Any:
    x, i = d.square(), d.input([2, 0, 2], "int64")
    value = d.input([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    return (x[:, i] if columns else x[i]).inc(value)


PAIRS: Mapping[str, Pair] = {
    "differ.props.Subtensor.idx_list": differ(_read, slice(1, None), slice(2, None)),
    "differ.props.Subtensor.idx_list_constant": differ(_read, 0, 1),
    "differ.props.Subtensor.idx_list_negative": differ(
        _read, slice(None, None, -1), slice(None, 2)
    ),
    "differ.props.Subtensor.idx_list_fields": differ(_stepped, "start", "stop"),
    "differ.props.Subtensor.idx_list_step": differ(_stepped, "start", "step"),
    "differ.props.Subtensor.idx_list_axis": differ(_rows_or_columns, False, True),
    "differ.props.IncSubtensor.set_instead_of_inc": differ(_written, False, True),
    "differ.props.IncSubtensor.idx_list": differ(_written_index, False, True),
    "differ.props.AdvancedIncSubtensor1.set_instead_of_inc": differ(_written_many, False, True),
    "differ.props.AdvancedIncSubtensor.ignore_duplicates": differ(_duplicates, False, True),
    "differ.props.AdvancedIncSubtensor.set_instead_of_inc": differ(_written_booleans, False, True),
    "differ.props.AdvancedIncSubtensor.idx_list": differ(_written_columns, False, True),
    "differ.props.AdvancedSubtensor.idx_list": differ(_advanced, False, True),
    "differ.props.AdvancedSubtensor.idx_list_order": differ(_advanced_swapped, False, True),
    "differ.props.AdvancedSubtensor.idx_list_planes": differ(_advanced_planes, False, True),
    "differ.props.AdvancedSubtensor.idx_list_apart": differ(_advanced_apart, False, True),
    "differ.props.AdvancedSubtensor.idx_list_masked": differ(_masked, False, True),
}
