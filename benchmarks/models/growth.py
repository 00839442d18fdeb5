"""Graphs in growing sizes: how work, time and memory of a build and of a call grow with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.models import Graph, Graphs, Model, Size
from benchmarks.models.parts.growing import chains, counties, inputs

_FAMILIES = (
    counties.COUNTIES,
    chains.ELEMENTWISE,
    chains.OP_FROM_GRAPH,
    chains.SCAN,
    chains.COMPOSITE,
    inputs.JOIN,
    inputs.ADD,
)
_MADE = {f"{one.name}.{size}": (one, size) for one in _FAMILIES for size in one.sizes}


@dataclass(frozen=True)
class Growing:
    """Makes the graph of a family and a size when it is asked for: large ones take seconds."""

    def graph(self, member: str = "") -> Graph:
        """Return a new graph of one member; of the smallest of the first family if none."""
        family, size = _MADE[member or next(iter(_MADE))]
        return family.graph(size)

    def explain(self, value: Any) -> str | None:
        """Return the beginning of a value: members are too many to compare it with all."""
        import numpy as np

        shown = np.array2string(np.asarray(value[0] if isinstance(value, list) else value),
                                precision=6, threshold=8)  # fmt: skip
        return f"the value is {shown}"


def _build(_: Any) -> Graphs:
    return Growing()


_SIZES: Mapping[str, Size] = {
    name: Size(family.name, family.noun, size, family.limit, family.equal_layers)
    for name, (family, size) in _MADE.items()
}

MODEL = Model(
    meaning="families of graphs that differ only in a size: counties of radon, layers, nodes and "
    "inputs",
    reference="NumPy",
    build=_build,
    families=("growth",),
    members=tuple(_MADE),
    sizes=_SIZES,
    order=230,
)
