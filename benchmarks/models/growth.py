"""Graphs in growing sizes: how work, time and memory of a build and of a call grow with them."""

from __future__ import annotations

from .parts.growing import chains, inputs
from .parts.growing.family import model_of

MODEL = model_of(
    "families of small graphs that differ only in a size: of nodes, layers or inputs",
    (
        chains.ELEMENTWISE, chains.OP_FROM_GRAPH, chains.SCAN, chains.COMPOSITE,
        inputs.JOIN, inputs.ADD,
    ),
    order=230,
)  # fmt: skip
