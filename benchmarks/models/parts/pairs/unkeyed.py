"""Pairs of graphs in which an Op without a key differs, and lies inside another Op.

What holds such an Op has no key either: its code would else be found for every other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .draft import Draft, module
from .inner import scanned
from .numba_ops import scaled
from .pair import OF_NUMBA, Pair, differ


def _op(factor: float) -> Any:
    """PyTensor must know that two of them differ: equal inner graphs are one in memory."""
    return scaled(("factor",), keyed=False)(factor)


def _alone(d: Draft, factor: float) -> Any:
    return _op(factor)(d.vector())


def _in_scan(d: Draft, factor: float) -> Any:
    return scanned(lambda row: _op(factor)(row), sequences=[d.matrix()])


def _in_graph(d: Draft, factor: float) -> Any:
    x = d.pt.vector("x", dtype="float64")
    return d.op("OpFromGraph", [x], [_op(factor)(x)])(d.vector())


def _in_batch(d: Draft, factor: float) -> Any:
    return d.op("Blockwise", _op(factor), signature="(n)->(n)")(d.matrix())


def _in_branch(d: Draft, factor: float) -> Any:
    """A branch of work that is dear enough to become a graph of its own."""
    ifelse = module("ifelse").ifelse
    x = d.square()
    return ifelse(d.input(1, "int8"), _op(factor)(d.pt.linalg.inv(x)), d.pt.linalg.expm(x))


_HOLDERS: Mapping[str, Callable[[Draft, float], Any]] = {
    "alone": _alone,
    "scan": _in_scan,
    "from_graph": _in_graph,
    "blockwise": _in_batch,
    "branch": _in_branch,
}

PAIRS: Mapping[str, Pair] = {
    f"differ.unkeyed.{name}": differ(build, 2.0, 3.0, linkers=OF_NUMBA)
    for name, build in _HOLDERS.items()
}
