"""Frozen graphs: whether the release has them, and how many of their nodes are there."""

from __future__ import annotations


def problem() -> str | None:
    """Return why this PyTensor has no frozen graphs, as a sentence; None if it has."""
    try:
        from pytensor.graph.fg import FrozenFunctionGraph  # noqa: F401
    except ImportError:
        return "this PyTensor has no frozen graphs: FunctionGraph.freeze() came with 3.1"
    return None


def nodes_in_memory() -> int:
    """Return the number of frozen nodes, each of which PyTensor keeps once."""
    from pytensor.graph.basic import FrozenApply

    return len(FrozenApply._cache)
