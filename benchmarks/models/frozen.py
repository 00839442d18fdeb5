"""Frozen inner graphs: what it costs to freeze, hash and compare them, and which are equal."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from . import Model, NotInThisRelease
from .parts.small import Member, SmallModel

NODES = (10, 100, 1_000, 10_000)
_DEEP = 200_000
"""A limit of recursion for chains: pickle and clone go down a graph by recursion."""


def _chain(nodes: int, number: float = 1.5, *, named: str = "x", backwards: bool = False) -> Any:
    """A graph of one vector that is not frozen yet: each of its nodes adds to the one before.

    ``backwards``: the constants are made in the reverse order.
    """
    import pytensor.tensor as pt
    from pytensor.graph.fg import FunctionGraph

    x = pt.vector(named, dtype="float64")
    order = range(nodes - 1, -1, -1) if backwards else range(nodes)
    numbers = {at: pt.constant(number + at % 7, dtype="float64", ndim=1) for at in order}
    found = x
    for at in range(nodes):
        found = pt.add(found, numbers[at]) if at % 2 else pt.mul(found, numbers[at])
    return FunctionGraph([x], [found], clone=False)


def _frozen(*arguments: Any, **options: Any) -> Any:
    graph = _chain(*arguments, **options)
    if not hasattr(graph, "freeze"):
        raise NotInThisRelease("FunctionGraph.freeze()")
    return graph.freeze()


def _member(
    prepare: Callable[[], Callable[[], Any]], right: float, tells: tuple[str, ...] = ()
) -> Member:
    """``prepare`` makes the graphs and returns the work, which returns one number."""

    def compiled(_: Any) -> Callable[[Any], Any]:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEP))
        work = prepare()
        return lambda _: work()

    return Member(compiled, lambda value: float(abs(float(value) - right)), tells=tells)


def _freezing(nodes: int) -> Member:
    def prepare() -> Callable[[], Any]:
        graph = _chain(nodes)
        if not hasattr(graph, "freeze"):
            raise NotInThisRelease("FunctionGraph.freeze()")
        return lambda: len(graph.freeze().apply_nodes)

    return _member(prepare, nodes, ("frozen_kept",))


def _hashing(nodes: int) -> Member:
    def prepare() -> Callable[[], Any]:
        one, other = _frozen(nodes), _frozen(nodes)
        return lambda: hash(one) == hash(other)

    return _member(prepare, 1)


def _comparing(nodes: int) -> Member:
    def prepare() -> Callable[[], Any]:
        one, other = _frozen(nodes), _frozen(nodes)
        return lambda: one == other

    return _member(prepare, 1)


def _equal(make: Callable[[], tuple[Any, Any]], right: int) -> Member:
    """Whether two graphs or Ops are equal, and where they are, also their hashes."""

    def prepare() -> Callable[[], Any]:
        one, other = make()
        return lambda: one == other and hash(one) == hash(other)

    return _member(prepare, right)


def _pickled() -> tuple[Any, Any]:
    one = _frozen(100)
    return one, pickle.loads(pickle.dumps(one))  # noqa: S301 - our own


_ELSEWHERE = f"""
import pickle, sys
sys.setrecursionlimit(200_000)
from {__name__} import _frozen
sys.stdout.buffer.write(b"#" + pickle.dumps(_frozen(100)))
"""


def _of_another_process() -> tuple[Any, Any]:
    """The other one is made by a fresh process, with a hash seed of its own."""
    one = _frozen(100)
    variables = os.environ | {"PYTHONHASHSEED": "random"}
    asked = [sys.executable, "-c", _ELSEWHERE]
    done = subprocess.run(asked, stdout=subprocess.PIPE, check=True, env=variables)
    return one, pickle.loads(done.stdout.partition(b"#")[2])  # noqa: S301 - our own


def _ops(one: dict[str, Any], other: dict[str, Any]) -> Callable[[], tuple[Any, Any]]:
    """Two OpFromGraphs of one inner graph, made apart with other options."""

    def made() -> tuple[Any, Any]:
        _frozen(1)  # a release without frozen graphs has no equal Ops
        return _op_from_graph(**one), _op_from_graph(**other)

    return made


def _op_from_graph(number: float = 1.5, **options: Any) -> Any:
    import pytensor.tensor as pt
    from pytensor.compile.builders import OpFromGraph

    a, b = pt.vector("a", dtype="float64"), pt.vector("b", dtype="float64")
    return OpFromGraph([a, b], [pt.exp(a) * number + b], **options)


def _with_shared(*, same: bool) -> Callable[[], tuple[Any, Any]]:
    """Ops that take a shared variable as an input: its value is no part of the Op."""

    def made() -> tuple[Any, Any]:
        import numpy as np
        import pytensor
        import pytensor.tensor as pt
        from pytensor.compile.builders import OpFromGraph

        _frozen(1)
        dtypes = ("float64", "float64" if same else "float32")
        ops = []
        for dtype in dtypes:
            a, shared = pt.vector("a", dtype="float64"), pytensor.shared(np.ones(3, dtype=dtype))
            ops.append(OpFromGraph([a, shared], [a * shared]))
        return ops[0], ops[1]

    return made


def _scans(**options: Any) -> Callable[[], tuple[Any, Any]]:
    """A Scan, and one of the same inner graph with other options."""

    def made() -> tuple[Any, Any]:
        import pytensor.tensor as pt

        from .parts.ops.loops import scan

        _frozen(1)

        def op(**own: Any) -> Any:
            x = pt.vector("x", dtype="float64")
            output = scan(lambda a: a * 1.5, outputs_info=[x], n_steps=3, **own)
            return next(one.op for one in _ancestors(output) if type(one.op).__name__ == "Scan")

        return op(), op(**options)

    return made


def _ancestors(output: Any) -> list[Any]:
    from .parts.op_classes import nodes_in

    return list(nodes_in([output]))


def _shared_nodes(nodes: int) -> Member:
    """How many times the nodes of one graph are in memory where there are two equal graphs."""

    def prepare() -> Callable[[], Any]:
        from .parts.frozen_nodes import nodes_in_memory

        _frozen(1)
        before = nodes_in_memory()
        one = _frozen(nodes)
        alone = nodes_in_memory() - before
        other = _frozen(nodes, named="y", backwards=True)
        both = nodes_in_memory() - before
        return lambda: both / alone if one is not None and other is not None else 0

    return _member(prepare, 1)


_MEMBERS = {
    **{f"freeze.{nodes}": _freezing(nodes) for nodes in NODES},
    **{f"hash.{nodes}": _hashing(nodes) for nodes in NODES},
    **{f"compare.{nodes}": _comparing(nodes) for nodes in NODES},
    "equal.order": _equal(lambda: (_frozen(100), _frozen(100, backwards=True)), 1),
    "equal.names": _equal(lambda: (_frozen(100), _frozen(100, named="y")), 1),
    "equal.pickle": _equal(_pickled, 1),
    "equal.process": _equal(_of_another_process, 1),
    "equal.op": _equal(_ops({}, {}), 1),
    "equal.shared": _equal(_with_shared(same=True), 1),
    "equal.strict": _equal(_ops({}, {"strict": True}), 1),
    "equal.scan": _equal(_scans(), 1),
    "differ.number": _equal(lambda: (_frozen(100), _frozen(100, 2.5)), 0),
    "differ.length": _equal(lambda: (_frozen(100), _frozen(99)), 0),
    "differ.op_number": _equal(_ops({}, {"number": 2.5}), 0),
    "differ.inline": _equal(_ops({}, {"inline": True}), 0),
    "differ.shared_dtype": _equal(_with_shared(same=False), 0),
    "differ.truncated": _equal(_scans(truncate_gradient=2), 0),
    "shared_nodes": _shared_nodes(1_000),
}

MODEL = Model(
    meaning="frozen inner graphs of 10 to 10,000 nodes: their costs, and which are equal",
    reference="what follows from how they were made",
    build=lambda _: SmallModel(_MEMBERS),
    families=("freezing",),
    members=tuple(_MEMBERS),
    only=("NUMBA",),
    because="freezing a graph depends on no backend",
    order=230,
)
