"""Chains: elementwise nodes, and equal layers that have an inner graph each.

Every layer is made anew, as code does that calls a function which builds one. Only a comparison of
the inner graphs shows that the layers are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import Graph
from ..ops.loops import scan
from ..small import Member, equal_to, in_pytensor, point, repeated
from .family import Family, deep

_LAYERS = (1, 3, 10, 30, 100, 300)
_NODES = (10, 30, 100, 300, 1_000, 3_000)
_STEPS = 3
"""Steps of each Scan. PyTensor unrolls a Scan of one step."""
Layer = Callable[[Any, Any], Any]
"""Takes pytensor.tensor or NumPy, and a vector."""


def _family(
    name: str, noun: str, sizes: tuple[int, ...], layer: Layer, right: Layer, *, equal: bool
) -> Family:
    def graph(size: int) -> Graph:
        chain = repeated(layer, size)
        found = Member(deep(in_pytensor(chain)), equal_to(repeated(right, size)))
        return Graph(point(), found.compile, found.check)

    return Family(name, noun, sizes, graph, equal_layers=equal)


def _step(library: Any, x: Any) -> Any:
    """A step that neither grows nor settles within a chain, so that sizes have other values."""
    return library.sin(x) + 0.001


def _op_from_graph(pt: Any, x: Any) -> Any:
    from pytensor.compile.builders import OpFromGraph

    inner = pt.vector("inner", dtype="float64")
    return OpFromGraph([inner], [_step(pt, inner)])(x)


def _scan(pt: Any, x: Any) -> Any:
    return scan(lambda before: _step(pt, before), outputs_info=[x], n_steps=_STEPS)[-1]


def _right_scan(np: Any, x: Any) -> Any:
    return repeated(_step, _STEPS)(np, x)


def _between_sums(library: Any, x: Any) -> Any:
    """PyTensor fuses elementwise Ops that follow one another: a sum keeps the layers apart."""
    return library.cumsum(0.2 * library.sin(x) + 0.001)


ELEMENTWISE = _family(
    "chain.elementwise", "nodes", _NODES, lambda library, x: library.sin(x),
    lambda library, x: library.sin(x), equal=False,
)  # fmt: skip
OP_FROM_GRAPH = _family("layers.OpFromGraph", "layers", _LAYERS, _op_from_graph, _step, equal=True)
SCAN = _family("layers.Scan", "layers", _LAYERS, _scan, _right_scan, equal=True)
COMPOSITE = _family("layers.Composite", "layers", _LAYERS, _between_sums, _between_sums, equal=True)
