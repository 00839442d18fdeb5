"""What is generated: graphs of the grammar, and mutations in one place."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from observatory.benchmarks.described import (
    TREATMENTS,
    DescribedGraph,
    DescribedPair,
    DescribedPairs,
    Node,
    Source,
)
from observatory.benchmarks.models.parts.pairs.described import MAKERS
from observatory.benchmarks.typed_json import from_json, to_json
from observatory.grow.grammar import apply, shapes
from observatory.grow.mutations import KINDS, mutations
from observatory.grow.rules import RULES
from observatory.grow.shape import Shape
from observatory.grow.shrinking import pruned
from observatory.grow.strategies import batch, graphs, pairs

FEW = settings(
    max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
ROW = Source("float64", (1, 3), ("0.75", "-1.5", "2.25"), (1, None))
ZERO = Source("float64", (2,), ("0.0", "3.0"), constant=True)


def places(graph: DescribedGraph) -> dict[tuple[Any, ...], Any]:
    """What a graph is made of, by place: a place is what a mutation may change alone.

    The shape, the known lengths and the numbers of an input are one place where it is resized.
    """
    found: dict[tuple[Any, ...], Any] = {("outputs",): graph.outputs}
    for number, source in enumerate(graph.sources):
        found["source", number] = (source.shape, source.numbers, source.known, source.constant)
        found["dtype", number] = source.dtype
    for number, node in enumerate(graph.nodes):
        found["operands", number] = node.operands
        found["op", number] = node.op
        for key, value in node.settings.items():
            found["setting", number, key] = value
    return found


@FEW
@given(pairs())
def test_a_description_survives_json(pair: DescribedPair) -> None:
    written = DescribedPairs({"one": pair})
    assert from_json(DescribedPairs, to_json(written)) == written


@FEW
@given(graphs())
def test_a_graph_is_one_of_the_grammar_and_has_nothing_that_no_output_needs(
    graph: DescribedGraph,
) -> None:
    assert shapes(graph) is not None
    assert graph.nodes
    assert pruned(graph) == graph


@FEW
@given(pairs())
def test_a_pair_differs_in_one_place_or_is_equal(pair: DescribedPair) -> None:
    first, second = places(pair.first), places(pair.second)
    assert first.keys() == second.keys()
    changed = [place for place in first if first[place] != second[place]]
    assert len(changed) == (0 if pair.equal else 1)
    assert pair.kind in (TREATMENTS if pair.equal else KINDS)
    assert (pair.treatment in TREATMENTS) == pair.equal
    assert shapes(pair.second) is not None


def test_a_seed_and_a_number_give_one_batch() -> None:
    one = batch(0, 1, 6)
    assert len(one) == 6
    assert batch(0, 1, 6) == one
    assert batch(1, 1, 6) != one
    assert batch(0, 2, 6) != one


def test_a_batch_has_many_kinds_and_operations() -> None:
    drawn = batch(0, 3, 24)
    ops = Counter(node.op for pair in drawn for node in pair.first.nodes)
    assert len({pair.kind for pair in drawn}) >= 8
    assert len(ops) >= 15
    assert 0 < sum(pair.equal for pair in drawn) < 12


def test_the_two_sides_know_the_same_operations() -> None:
    assert RULES.keys() == MAKERS.keys()


def test_a_constant_has_the_mutations_of_numbers() -> None:
    graph = DescribedGraph((ROW, ZERO), (Node("true_div", (0, 0)), Node("neg", (1,))), (2, 3))
    found = mutations(graph)
    assert {"sign_of_zero", "nan", "constant", "dtype", "known_length", "operation"} <= set(found)
    assert [one.sources[1].numbers for one in found["sign_of_zero"]] == [("-0.0", "3.0")]


def test_a_length_that_is_broadcast_gets_another_and_keeps_the_result() -> None:
    other = Source("float64", (2, 3), ("0.75",) * 6, (None, 3))
    graph = DescribedGraph((ROW, other), (Node("sub", (0, 1)),), (2,))
    found = [one for one in mutations(graph)["broadcast"] if one.sources[0] != ROW]
    assert [one.sources[0].shape for one in found] == [(2, 3)]
    assert found[0].sources[0].numbers == ROW.numbers * 2


def test_an_unknown_length_of_one_is_not_broadcast() -> None:
    unknown = replace(ROW, known=(None, None))
    other = Source("float64", (2, 3), ("0.75",) * 6, (2, 3))
    assert shapes(DescribedGraph((ROW, other), (Node("sub", (0, 1)),), (2,))) is not None
    assert shapes(DescribedGraph((unknown, other), (Node("sub", (0, 1)),), (2,))) is None


@pytest.mark.parametrize(
    ("node", "operands", "lengths"),
    [
        (Node("sum", (0,), {"axis": "0", "keepdims": "yes", "dtype": ""}), [(2, 3)], (1, 3)),
        (Node("sum", (0,), {"axis": "", "keepdims": "", "dtype": ""}), [(2, 3)], ()),
        (Node("part", (0,), {"index": "1:,::-1"}), [(3, 2)], (2, 2)),
        (Node("part", (0,), {"index": "[1,1,0]"}), [(2, 3)], (3, 3)),
        (Node("dot", (0, 1)), [(2, 3), (3, 4)], (2, 4)),
        (Node("dot", (0, 1)), [(2, 3), (2, 3)], None),
        (Node("join", (0, 1), {"axis": "1"}), [(2, 3), (2, 1)], (2, 4)),
        (Node("diagonal", (0,), {"offset": "1"}), [(3, 3)], (2,)),
        (Node("reshape", (0,), {"shape": "3,2"}), [(2, 3)], (3, 2)),
        (Node("assign", (0, 1), {"index": "1:", "how": "set"}), [(3,), (2,)], (3,)),
        (Node("assign", (0, 1), {"index": "1:", "how": "set"}), [(3,), (3,)], None),
    ],
)
def test_the_shape_of_a_result(
    node: Node, operands: list[tuple[int, ...]], lengths: tuple[int, ...] | None
) -> None:
    result = apply(node, [Shape(one, "f") for one in operands])
    assert (result and result.lengths) == lengths


def test_the_places_of_a_graph_are_all_of_it() -> None:
    graph = DescribedGraph((ROW,), (Node("neg", (0,)),), (1,))
    assert set(asdict(graph)) == {"sources", "nodes", "outputs"}
    assert len(places(graph)) == 5
