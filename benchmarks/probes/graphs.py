"""Probe on graphs: which Ops they have, as they were made and as the backend gets them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

_WRAPPED = ("scalar_op", "core_op")
"""The attributes in which an Op holds one that it applies to each element or block."""


def ops_in(outputs: Iterable[Any]) -> Iterator[Any]:
    """Yield the Op of every node above some variables, once a node.

    The Ops of inner graphs follow, and the Ops that others wrap.
    """
    variables = list(outputs)
    seen = set()
    while variables:
        node = variables.pop().owner
        if node is None or node in seen:
            continue
        seen.add(node)
        variables += node.inputs
        pending = [node.op]
        while pending:
            op = pending.pop()
            yield op
            pending += [one for name in _WRAPPED if (one := getattr(op, name, None)) is not None]
            inner = getattr(op, "fgraph", None)
            if inner is not None:
                yield from ops_in(inner.outputs)


def name_of(op_class: type) -> str:
    """Return the name of a class of Ops with its module, because several share one name."""
    return f"{op_class.__module__}.{op_class.__qualname__}".removeprefix("pytensor.")


@contextmanager
def noting_ops() -> Iterator[set[str]]:
    """Collect the classes of all Ops in the graphs that are compiled inside the block.

    Both graphs count: the one that a function is asked for, and what the rewrites make of it. The
    set is whole at the end of the block, also if a build raises. Imports PyTensor.
    """
    try:
        from pytensor.compile.maker import FunctionMaker
    except ImportError:  # before 3.0
        from pytensor.compile.function.types import FunctionMaker

    found: set[str] = set()
    graphs: list[Any] = []
    prepare = FunctionMaker.prepare_fgraph

    def prepare_fgraph(
        inputs: Any, outputs: Any, updates: Any, fgraph: Any, *args: Any, **kwargs: Any
    ) -> Any:
        found.update(name_of(type(op)) for op in ops_in(fgraph.outputs))
        graphs.append(fgraph)
        return prepare(inputs, outputs, updates, fgraph, *args, **kwargs)

    FunctionMaker.prepare_fgraph = staticmethod(prepare_fgraph)
    try:
        yield found
    finally:
        FunctionMaker.prepare_fgraph = staticmethod(prepare)
        # Not before: a backend rewrites an inner graph when it comes to it.
        found.update(name_of(type(op)) for graph in graphs for op in ops_in(graph.outputs))
