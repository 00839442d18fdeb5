"""A family of graphs that differ in nothing but a size."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.models import Graph

_RECURSION = 60_000
"""PyTensor 3.0.0 and releases before it copy a graph by recursion."""


@dataclass(frozen=True)
class Family:
    """The graphs of one kind."""

    name: str
    noun: str
    """What the size counts, in the plural."""
    sizes: tuple[int, ...]
    graph: Callable[[int], Graph]
    """Returns a new graph of a size."""
    limit: float = 15.0
    """The CPU seconds after which the build of a size is ended."""
    equal_layers: bool = False
    """Whether it repeats equal layers, of which the inner function should be compiled once."""


@contextmanager
def deeply() -> Iterator[None]:
    """Raise Python's limit of recursion inside the block."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def deep(compile_graph: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that compiles with a higher limit of recursion."""

    def compiled(mode: Any) -> Any:
        with deeply():
            return compile_graph(mode)

    return compiled
