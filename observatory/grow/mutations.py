"""Every graph that differs from another one in one place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from observatory.benchmarks.described import DescribedGraph, Node, Source
from observatory.grow.grammar import nodes, shapes
from observatory.grow.rules import RULES
from observatory.grow.shape import FLOATS, INTEGERS, Shape

KINDS = (
    "operands", "edge", "operation", "axis", "setting", "constant", "sign_of_zero", "nan",
    "dtype", "broadcast", "known_length",
)  # fmt: skip
"""What two graphs may differ in: two operands that change places; one operand; the operation; its
axes; another setting; a number of a constant; the sign of its zero; nan in its place; the dtype of
a source; the length of a dimension of an input that was 1 and is broadcast, or the reverse; and
whether the type of an input knows a length."""
_OTHER = {"0.75": "1.25", "True": "False", "False": "True"}


def mutations(graph: DescribedGraph) -> dict[str, list[DescribedGraph]]:
    """Return the graphs of the grammar that differ from this one in one place, by kind.

    Kinds without such a graph are left out.
    """
    found: dict[str, list[DescribedGraph]] = {}
    for kind, other in (*_of_sources(graph), *_of_nodes(graph)):
        if other != graph and shapes(other) is not None:
            found.setdefault(kind, []).append(other)
    return found


def _of_sources(graph: DescribedGraph) -> Iterator[tuple[str, DescribedGraph]]:
    for place, source in enumerate(graph.sources):
        for kind, other in _others(source):
            sources = (*graph.sources[:place], other, *graph.sources[place + 1 :])
            yield kind, replace(graph, sources=sources)


def _others(source: Source) -> Iterator[tuple[str, Source]]:
    for dtypes in (FLOATS, INTEGERS):
        if source.dtype in dtypes:
            yield from (("dtype", replace(source, dtype=dtype)) for dtype in dtypes)
    if source.constant:
        for place, number in enumerate(source.numbers):
            for kind, other in _other_numbers(number, source.dtype):
                numbers = (*source.numbers[:place], other, *source.numbers[place + 1 :])
                yield kind, replace(source, numbers=numbers)
        return
    for axis, length in enumerate(source.shape):
        known = source.known[axis]
        turned = None if known is not None else length
        yield "known_length", replace(source, known=_with(source.known, axis, turned))
        for resized in (1, 2, 3):
            if (length == 1) != (resized == 1):
                yield "broadcast", _resized(source, axis, resized)


def _other_numbers(number: str, dtype: str) -> Iterator[tuple[str, str]]:
    if dtype in FLOATS:
        if float(number) == 0.0:
            yield "sign_of_zero", "-0.0" if number == "0.0" else "0.0"
        yield "nan", "nan"
        yield "constant", _OTHER.get(number, "0.75")
    elif dtype in INTEGERS:
        yield "constant", "2" if number == "1" else "1"
    else:
        yield "constant", _OTHER[number]


def _with(lengths: tuple[int | None, ...], axis: int, length: int | None) -> tuple[int | None, ...]:
    return (*lengths[:axis], length, *lengths[axis + 1 :])


def _resized(source: Source, axis: int, length: int) -> Source:
    """An input with another length of one dimension; its numbers are repeated or left out."""
    shape = (*source.shape[:axis], length, *source.shape[axis + 1 :])
    size = 1
    for each in shape:
        size *= each
    numbers = tuple(source.numbers[n % len(source.numbers)] for n in range(size))
    known = source.known
    if known[axis] is not None:
        known = _with(known, axis, length)
    return replace(source, shape=shape, numbers=numbers, known=known)


def _of_nodes(graph: DescribedGraph) -> Iterator[tuple[str, DescribedGraph]]:
    found = shapes(graph)
    if found is None:
        return
    for place, node in enumerate(graph.nodes):
        pool = found[: len(graph.sources) + place]
        for other in _other_operations(node, pool):
            yield "operation", _with_node(graph, place, other)
        for kind, other in _other_operands(node, len(pool)):
            yield kind, _with_node(graph, place, other)
        for other in nodes(node.op, node.operands, pool):
            changed = {k for k in other.settings if other.settings[k] != node.settings.get(k)}
            if len(changed) == 1:
                yield "axis" if changed == {"axis"} else "setting", _with_node(graph, place, other)


def _other_operations(node: Node, pool: Sequence[Shape]) -> Iterator[Node]:
    """Another operation with the same operands and settings."""
    for op, rule in RULES.items():
        if rule.group == RULES[node.op].group:
            other = replace(node, op=op)
            yield from (one for one in nodes(op, node.operands, pool) if one == other)


def _other_operands(node: Node, variables: int) -> Iterator[tuple[str, Node]]:
    operands = node.operands
    for left in range(len(operands)):
        for right in range(left + 1, len(operands)):
            swapped = list(operands)
            swapped[left], swapped[right] = swapped[right], swapped[left]
            yield "operands", replace(node, operands=tuple(swapped))
        for other in range(variables):
            yield "edge", replace(node, operands=(*operands[:left], other, *operands[left + 1 :]))


def _with_node(graph: DescribedGraph, place: int, node: Node) -> DescribedGraph:
    return replace(graph, nodes=(*graph.nodes[:place], node, *graph.nodes[place + 1 :]))
