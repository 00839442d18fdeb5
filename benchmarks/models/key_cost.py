"""Graphs of which only the keys are made: what keys cost by node, and by byte of a constant."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from . import Model
from .parts.ops.loops import scan
from .parts.small import Function, Member, SmallModel, equal_to, in_pytensor, repeated

NODES = (10, 100, 1_000, 10_000)
BYTES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_FLOAT = 8


def _of_nodes(number: int) -> Member:
    """A chain that rewrites leave alone. A cumulative sum is converted faster than most Ops."""
    chain = repeated(lambda library, x: library.cumsum(x), number)
    return Member(_deep(in_pytensor(chain)), equal_to(chain))


def _deep(compiled: Callable[[Any], Function]) -> Callable[[Any], Function]:
    """Compile with a higher limit of recursion.

    PyTensor 3.0.0 and releases before it copy a graph by recursion, which ends at 3,000 nodes.
    """

    def deeply(mode: Any) -> Function:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 10 * NODES[-1]))
        try:
            return compiled(mode)
        finally:
            sys.setrecursionlimit(limit)

    return deeply


def _of_bytes(size: int) -> Member:
    """A vector and a constant, one after the other."""

    def constant() -> Any:
        import numpy as np

        return np.random.default_rng(1).random(size // _FLOAT)

    return Member(
        in_pytensor(lambda pt, x: pt.join(0, x, pt.constant(constant()))),
        equal_to(lambda np, x: np.concatenate([x, constant()])),
    )


def _of_equal_graphs(number: int) -> Member:
    """A graph that is used many times, half of them inside of another: its keys are made once."""

    def used(pt: Any, x: Any) -> Any:
        from pytensor.compile.builders import OpFromGraph

        inside = pt.vector(dtype="float64")
        inner = OpFromGraph([inside], [pt.cumsum(pt.cumsum(inside))])
        outer = OpFromGraph([inside], [pt.cumsum(inner(inside))])
        return repeated(lambda _, given: outer(inner(given)), number // 2)(pt, x)

    return Member(
        in_pytensor(used), equal_to(repeated(lambda np, x: np.cumsum(x), 5 * number // 2))
    )


def _of_shared_graph(length: int) -> Member:
    """A chain inside two graphs, a loop and two batches, whose keys need not be made for each."""
    chain = repeated(lambda library, x: library.cumsum(x), length)

    def used(pt: Any, x: Any) -> Any:
        from pytensor.compile.builders import OpFromGraph
        from pytensor.tensor.blockwise import Blockwise

        inside = pt.vector(dtype="float64")
        inner = OpFromGraph([inside], [chain(pt, inside)])
        less, more = (OpFromGraph([inside], [inner(inside) + one]) for one in (-1.0, 1.0))
        batch = Blockwise(inner, signature="(n)->(n)")
        rows = pt.outer(x, x + 1.0)
        looped = scan(inner, sequences=[rows])
        return less(x) * more(x) + (looped + batch(2.0 * rows) - batch(rows)).sum(axis=0)

    def right(np: Any, x: Any) -> Any:
        return chain(np, x) ** 2 - 1.0 + 2.0 * x.sum() * chain(np, x + 1.0)

    return Member(in_pytensor(used), equal_to(right))


_GRAPHS = {
    **{f"nodes.{number}": _of_nodes(number) for number in NODES},
    **{f"bytes.{size}": _of_bytes(size) for size in BYTES},
    "graphs.20": _of_equal_graphs(20),
    "graphs.shared": _of_shared_graph(20),
}

MODEL = Model(
    meaning="graphs of 10 to 10,000 nodes, constants of 1,000 bytes to 10 MB, and inner graphs "
    "that are used several times, for their keys",
    reference="NumPy",
    build=lambda _: SmallModel(_GRAPHS),
    families=("key_making",),
    members=tuple(_GRAPHS),
    order=220,
)
