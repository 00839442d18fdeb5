"""Probe on graphs: what they contain, as they were made and as the backend gets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..models.parts.op_classes import name_of, nodes_in, ops_in

_STORED = ("outer_mitsot", "outer_sitsot", "outer_nitsot")
"""The methods of a Scan that return the inputs for whose length it stores the values of an output:
the first two are the memory itself, and the last are numbers of steps."""


@dataclass
class Noted:
    """The graphs that were compiled, and the classes of their Ops."""

    graphs: list[Any] = field(default_factory=list)
    """After the rewrites, in the order in which they were compiled."""
    ops: set[str] = field(default_factory=set)
    """Those of the graphs that functions were asked for, and those after the rewrites."""


@contextmanager
def noting_graphs() -> Iterator[Noted]:
    """Collect the graphs that are compiled inside the block.

    The Ops are whole at the end of the block, also if a build raises. Imports PyTensor.
    """
    try:
        from pytensor.compile.maker import FunctionMaker
    except ImportError:  # before 3.0
        from pytensor.compile.function.types import FunctionMaker

    found = Noted()
    prepare = FunctionMaker.prepare_fgraph

    def prepare_fgraph(
        inputs: Any, outputs: Any, updates: Any, fgraph: Any, *args: Any, **kwargs: Any
    ) -> Any:
        found.ops.update(name_of(type(op)) for op in ops_in(fgraph.outputs))
        found.graphs.append(fgraph)
        return prepare(inputs, outputs, updates, fgraph, *args, **kwargs)

    FunctionMaker.prepare_fgraph = staticmethod(prepare_fgraph)
    try:
        yield found
    finally:
        FunctionMaker.prepare_fgraph = staticmethod(prepare)
        # Not before: a backend rewrites an inner graph when it comes to it.
        found.ops.update(
            name_of(type(op)) for graph in found.graphs for op in ops_in(graph.outputs)
        )


def _nodes(graphs: Sequence[Any]) -> Iterator[Any]:
    for graph in graphs:
        yield from nodes_in(graph.outputs)


def _stored(graphs: Sequence[Any]) -> int:
    """The sum of the steps that all loops store, for every output of theirs."""
    found = 0
    for graph in graphs:
        # Only the outermost loops: what an inner one stores follows from the steps of its loop.
        for node in graph.apply_nodes:
            if type(node.op).__name__ == "Scan":
                memories = [one for name in _STORED for one in getattr(node.op, name)(node.inputs)]
                found += sum(_length(graph, one) for one in memories) + _untraced(node.op.info)
    return found


def _untraced(info: Any) -> int:
    """The states of which a loop keeps only the last value, and has no memory of several."""
    found = getattr(info, "n_untraced_sit_sot", None)
    return int(info.n_shared_outs if found is None else found)  # its name before 3.1


def _length(graph: Any, memory: Any) -> int:
    """The length of a loop's memory, which does not depend on the inputs of the function.

    Raises ValueError if it does.
    """
    import pytensor

    length = memory.shape[0] if memory.type.ndim else memory
    inputs = [one for one in graph.inputs if one.owner is None]
    mode = pytensor.compile.mode.Mode(linker="py", optimizer="fast_run")
    try:
        # The rewrites have made some Ops of it work in place.
        function = pytensor.function(
            inputs, length, mode=mode, on_unused_input="ignore", accept_inplace=True
        )
        ones = [one.type.filter(_ones(one), allow_downcast=True) for one in inputs]
        return int(function(*ones))
    except Exception as error:
        raise ValueError(f"the steps that a loop stores cannot be found: {error}") from error


def _ones(variable: Any) -> Any:
    import numpy as np

    return np.ones((1,) * variable.type.ndim, dtype=variable.type.dtype)


_COUNTS: Mapping[str, Callable[[Sequence[Any]], int]] = {
    "graph_nodes": lambda graphs: sum(1 for _ in _nodes(graphs)),
    "blockwise_nodes": lambda graphs: sum(
        any(one.__name__ == "Blockwise" for one in type(node.op).__mro__) for node in _nodes(graphs)
    ),
    "stored_steps": _stored,
}


def counts_of(graphs: Sequence[Any], metrics: Sequence[str]) -> dict[str, float]:
    """Return those of some metrics that graphs after the rewrites give.

    Raises ValueError if the length of a loop's memory cannot be found.
    """
    return {name: count(graphs) for name, count in _COUNTS.items() if name in metrics}
