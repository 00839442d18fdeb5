"""A family of graphs that differ in nothing but a size."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ... import Graph, Model, Size

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
    limit: float = 12.0
    """The CPU seconds after which the build of a size is ended."""
    equal_layers: bool = False
    """Whether it repeats equal layers, of which the inner function should be compiled once."""


@dataclass(frozen=True)
class Growing:
    """Makes the graph of a family and a size when it is asked for: large ones take seconds."""

    made: Mapping[str, tuple[Family, int]]
    """By member, its family and size."""

    def graph(self, member: str = "") -> Graph:
        """Return a new graph of one member; of the first if none is named."""
        family, size = self.made[member or next(iter(self.made))]
        return family.graph(size)

    def explain(self, value: Any) -> str | None:
        """Return the beginning of a value. Each member is compared with its own reference only."""
        import numpy as np

        first = value[0] if isinstance(value, list) else value
        return f"the value is {np.array2string(np.asarray(first), precision=6, threshold=8)}"


def model_of(meaning: str, families: tuple[Family, ...], order: int) -> Model:
    """Return the model of some families, whose members carry their sizes."""
    made = {f"{one.name}.{size}": (one, size) for one in families for size in one.sizes}
    return Model(
        meaning=meaning,
        reference="NumPy",
        build=lambda _: Growing(made),
        families=("growth",),
        members=tuple(made),
        sizes={
            name: Size(family.name, family.noun, size, family.limit, family.equal_layers)
            for name, (family, size) in made.items()
        },
        order=order,
    )


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
