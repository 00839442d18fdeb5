"""Make the graphs of a counterexample smaller.

This is no shrinker of hypothesis: that one asks hundreds of times whether a smaller example is one
still, and here each answer takes two processes and several seconds. It asks about the few graphs
that leave out a node, an operand or an output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from observatory.benchmarks.described import DescribedGraph, DescribedPair, Node, Source
from observatory.grow.grammar import shapes
from observatory.grow.shape import Shape

_DTYPES = {"f": "float64", "i": "int64", "b": "bool"}
_NUMBERS = {"f": ("0.75", "-1.5", "2.25", "3.0"), "i": ("3", "-1", "2"), "b": ("True", "False")}


def pruned(graph: DescribedGraph) -> DescribedGraph:
    """Return the graph without the sources and nodes that no output needs."""
    count = len(graph.sources)
    needed: set[int] = set()
    waiting = list(graph.outputs)
    while waiting:
        number = waiting.pop()
        if number not in needed:
            needed.add(number)
            if number >= count:
                waiting += graph.nodes[number - count].operands
    place = {number: new for new, number in enumerate(sorted(needed))}
    return DescribedGraph(
        tuple(source for number, source in enumerate(graph.sources) if number in needed),
        tuple(
            replace(node, operands=tuple(place[operand] for operand in node.operands))
            for number, node in enumerate(graph.nodes, count)
            if number in needed
        ),
        tuple(place[number] for number in graph.outputs),
    )


def size(pair: DescribedPair) -> tuple[int, int, int]:
    """Return how large a pair is: its nodes, its sources and outputs, and its elements."""
    both = (pair.first, pair.second)
    return (
        sum(len(graph.nodes) for graph in both),
        sum(len(graph.sources) + len(graph.outputs) for graph in both),
        sum(len(source.numbers) for graph in both for source in graph.sources),
    )


def smaller(pair: DescribedPair) -> Iterator[DescribedPair]:
    """Return smaller pairs of the grammar, the smallest of one change first.

    The same is left out of both graphs, and if that makes them equal, of one of them.
    """
    found: list[DescribedPair] = []
    firsts, seconds = list(_smaller(pair.first)), list(_smaller(pair.second))
    alike = len(pair.first.nodes) == len(pair.second.nodes)
    if alike:
        found += [_with(pair, *both) for both in _by_change(firsts, seconds)]
    if not pair.equal:
        found += [_with(pair, graph, pair.second) for _, graph in firsts]
        found += [_with(pair, pair.first, graph) for _, graph in seconds]
    valid = (
        one
        for one in found
        if size(one) < size(pair)
        and (one.equal or pair.first == pair.second or one.first != one.second)
        and shapes(one.first) is not None
        and shapes(one.second) is not None
    )
    yield from sorted(valid, key=size)


def shrink(
    pair: DescribedPair, still: Callable[[DescribedPair], bool], going: Callable[[], bool]
) -> DescribedPair:
    """Return a pair of which no smaller one is still a counterexample.

    ``still``: whether a pair is one; it is not asked twice about the same. ``going``: whether there
    is time for another question; without it the smallest pair so far is returned.
    """
    asked = {repr(pair)}
    best = pair
    while True:
        for one in smaller(best):
            if repr(one) in asked:
                continue
            if not going():
                return best
            asked.add(repr(one))
            if still(one):
                best = one
                break
        else:
            return best


def _with(pair: DescribedPair, first: DescribedGraph, second: DescribedGraph) -> DescribedPair:
    return replace(pair, first=first, second=second)


_Changed = tuple[tuple[str, int, int], DescribedGraph]
"""A graph, and what was left out of it."""


def _by_change(
    firsts: list[_Changed], seconds: list[_Changed]
) -> Iterator[tuple[DescribedGraph, DescribedGraph]]:
    others = dict(seconds)
    for change, graph in firsts:
        if change in others:
            yield graph, others[change]


def _smaller(graph: DescribedGraph) -> Iterator[_Changed]:
    found = shapes(graph)
    if found is None:
        return
    count = len(graph.sources)
    for number in range(count, len(found)):
        if graph.outputs != (number,):
            yield ("only", number, 0), pruned(replace(graph, outputs=(number,)))
        for place, operand in enumerate(graph.nodes[number - count].operands):
            yield ("bypass", number, place), pruned(_replaced(graph, number, operand))
        yield ("cut", number, 0), pruned(_cut(graph, number, found[number]))
    for number, node in enumerate(graph.nodes, count):
        if node.op in ("add", "mul", "join") and len(node.operands) == 3:
            for place in range(3):
                operands = node.operands[:place] + node.operands[place + 1 :]
                nodes = list(graph.nodes)
                nodes[number - count] = replace(node, operands=operands)
                yield ("operand", number, place), pruned(replace(graph, nodes=tuple(nodes)))


def _replaced(graph: DescribedGraph, number: int, by: int) -> DescribedGraph:
    """The graph in which another variable stands for a node."""

    def of(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(by if one == number else one for one in numbers)

    nodes = tuple(replace(node, operands=of(node.operands)) for node in graph.nodes)
    return replace(graph, nodes=nodes, outputs=of(graph.outputs))


def _cut(graph: DescribedGraph, number: int, shape: Shape) -> DescribedGraph:
    """The graph in which a new input stands for a node."""
    count = len(graph.sources)
    palette = _NUMBERS[shape.kind]
    elements = 1
    for length in shape.size:
        elements *= length
    source = Source(
        _DTYPES[shape.kind],
        shape.size,
        tuple(palette[n % len(palette)] for n in range(elements)),
        tuple(1 if length == 1 else None for length in shape.lengths),
    )

    def of(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(count if one == number else one if one < count else one + 1 for one in numbers)

    nodes: list[Node] = [replace(node, operands=of(node.operands)) for node in graph.nodes]
    return DescribedGraph((*graph.sources, source), tuple(nodes), of(graph.outputs))
