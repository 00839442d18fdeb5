"""Random pairs of graphs: hypothesis chooses, so that a seed gives the same pairs again."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from observatory.benchmarks.described import TREATMENTS, DescribedGraph, DescribedPair, Node, Source
from observatory.grow.grammar import options
from observatory.grow.mutations import KINDS, mutations
from observatory.grow.rules import RULES
from observatory.grow.shape import Shape, shape_of
from observatory.grow.shrinking import pruned

_NUMBERS = ("0.75", "-1.5", "2.25", "3.0", "-0.5", "0.1", "5.0", "-2.0", "1.125")
_CONSTANTS = (*_NUMBERS, "0.0", "-0.0")
_INTEGERS = ("3", "-1", "2", "5", "-4", "7", "0", "6", "-3")
_SHAPES: tuple[tuple[int, ...], ...] = (
    (), (3,), (3,), (4,), (2, 3), (3, 2), (3, 3), (1, 3), (3, 1), (1,), (2, 2, 3),
)  # fmt: skip
_DTYPES = ("float64", "float64", "float64", "float32", "int64", "int32")
_OPERATIONS = tuple(
    name
    for name, rule in RULES.items()
    for _ in range({"elementwise": 2, "other": 4, "rare": 1}[rule.group])
)
"""Each operation as often as it is to be tried. One that takes seconds is tried less often."""
_MOST_NODES = 4
_TIMES = 5
"""How many times as many pairs are generated as a batch has."""


@st.composite
def sources(draw: st.DrawFn, *, constant: bool = False) -> Source:
    """Return a source: an input, or a constant."""
    shape = draw(st.sampled_from(_SHAPES))
    dtype = draw(st.sampled_from(_DTYPES))
    palette = _CONSTANTS if constant else _NUMBERS
    if not dtype.startswith("float"):
        palette = _INTEGERS
    # Different numbers, as far as there are: of equal ones no order can be seen.
    begin = draw(st.integers(0, len(palette) - 1))
    elements = tuple(palette[(begin + n) % len(palette)] for n in range(prod(shape)))
    if constant:
        return Source(dtype, shape, elements, constant=True)
    # Only a length of 1 that is known is broadcast.
    known = tuple(n if n == 1 else draw(st.sampled_from((None, n))) for n in shape)
    return Source(dtype, shape, elements, known)


@st.composite
def graphs(draw: st.DrawFn) -> DescribedGraph:
    """Return a graph of one to four nodes; its outputs are the nodes that no other node takes."""
    inputs = draw(st.lists(sources(), min_size=1, max_size=3))
    constants = draw(st.lists(sources(constant=True), max_size=2))
    given_ = (*inputs, *constants)
    pool = [shape_of(source) for source in given_]
    made: list[Node] = []
    for _ in range(draw(st.integers(1, _MOST_NODES))):
        node = _drawn(draw, pool, len(given_))
        made.append(node)
        taken = [pool[operand] for operand in node.operands]
        result = RULES[node.op].result(taken, node.settings)
        assert result is not None
        pool.append(result)
    numbers = range(len(given_), len(pool))
    used = {operand for node in made for operand in node.operands}
    return pruned(DescribedGraph(given_, tuple(made), tuple(n for n in numbers if n not in used)))


def _drawn(draw: st.DrawFn, pool: Sequence[Shape], sources_: int) -> Node:
    """A node that takes the newest variable if it can, so that nodes follow one another."""
    last = len(pool) - 1
    while True:
        possible = options(draw(st.sampled_from(_OPERATIONS)), pool)
        chained = [node for node in possible if last in node.operands]
        if found := chained if chained and last >= sources_ else possible:
            return draw(st.sampled_from(found))


@st.composite
def pairs(draw: st.DrawFn) -> DescribedPair:
    """Return a pair: in four of five cases of graphs that differ in one place, else of equal."""
    first = draw(graphs())
    if draw(st.sampled_from((True, True, True, True, False))) and (others := mutations(first)):
        kind = draw(st.sampled_from([kind for kind in KINDS if kind in others]))
        return DescribedPair(first, draw(st.sampled_from(others[kind])), kind)
    treatment = draw(st.sampled_from(TREATMENTS))
    return DescribedPair(first, first, treatment, treatment)


def batch(number: int, of_seed: int, size: int) -> list[DescribedPair]:
    """Return one batch of random pairs: the same for the same seed, number and size.

    hypothesis likes to repeat itself. Of several times as many pairs, the batch has first those
    whose operations and kind no other one has.
    """
    found: list[DescribedPair] = []

    @seed(f"{of_seed} {number}")
    @settings(
        max_examples=size * _TIMES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(pairs())
    def collect(pair: DescribedPair) -> None:
        found.append(pair)

    collect()
    unlike: dict[object, DescribedPair] = {}
    for pair in found:
        unlike.setdefault((pair.kind, *(node.op for node in pair.first.nodes)), pair)
    rest = [pair for pair in found if pair not in unlike.values()]
    return [*unlike.values(), *rest][:size]
