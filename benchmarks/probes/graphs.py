"""Probe on graphs: which Ops they have, as they were made and as the backend gets them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.models.parts.op_classes import name_of, ops_in


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
