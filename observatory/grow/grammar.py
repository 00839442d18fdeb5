"""The grammar of generated graphs: what its nodes make of operands, and which nodes there are.

It knows shapes and kinds of dtypes, so that nearly every generated graph is one that PyTensor
accepts. What the operations are in PyTensor stands in `benchmarks.models.parts.pairs.described`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from observatory.benchmarks.described import DescribedGraph, Node
from observatory.grow.rules import MOST_DIMENSIONS, RULES
from observatory.grow.shape import Result, Shape, shape_of

_MOST_ELEMENTS = 64


def shapes(graph: DescribedGraph) -> list[Shape] | None:
    """Return the shapes of all sources and nodes; None if the graph is not one of the grammar."""
    found = [shape_of(source) for source in graph.sources]
    for node in graph.nodes:
        if any(not 0 <= operand < len(found) for operand in node.operands):
            return None
        result = apply(node, [found[operand] for operand in node.operands])
        if result is None:
            return None
        found.append(result)
    return found


def apply(node: Node, operands: Sequence[Shape]) -> Result:
    """Return what a node makes of operands; None if it does not take them."""
    rule = RULES.get(node.op)
    if rule is None or len(operands) not in rule.arity:
        return None
    result = rule.result(operands, node.settings)
    if result is None or result.ndim > MOST_DIMENSIONS or 0 in result.lengths:
        return None
    return result if prod(result.size) <= _MOST_ELEMENTS else None


def options(op: str, pool: Sequence[Shape]) -> list[Node]:
    """Return every node of one operation whose operands are variables of a pool."""
    found = []
    for arity in RULES[op].arity:
        for operands in product(range(len(pool)), repeat=arity):
            found += nodes(op, operands, pool)
    return found


def nodes(op: str, operands: tuple[int, ...], pool: Sequence[Shape]) -> list[Node]:
    """Return every node of one operation with these operands, whatever its settings."""
    if len(operands) not in RULES[op].arity:
        return []
    taken = [pool[operand] for operand in operands]
    tried = (Node(op, operands, settings) for settings in RULES[op].settings(taken))
    return [node for node in tried if apply(node, taken) is not None]
