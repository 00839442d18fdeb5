"""Counterexamples are made smaller, with a judge that needs no process."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings

from observatory.benchmarks.described import DescribedGraph, DescribedPair, Node, Source
from observatory.grow.grammar import shapes
from observatory.grow.shrinking import shrink, size, smaller
from observatory.grow.strategies import pairs

X = Source("float64", (2, 3), ("0.75", "-1.5", "2.25", "3.0", "-0.5", "0.1"), (None, None))
Y = Source("float64", (3,), ("1.0", "2.0", "3.0"), (3,))


def large(axis: str) -> DescribedGraph:
    """A sum in the middle of other nodes, beside a second output."""
    total = Node("sum", (3,), {"axis": axis, "keepdims": "yes", "dtype": ""})
    nodes = (Node("tanh", (0,)), Node("add", (2, 0, 1)), total, Node("neg", (4,)),
             Node("sort", (1,), {"axis": "0"}))  # fmt: skip
    return DescribedGraph((X, Y), nodes, (5, 6))


PAIR = DescribedPair(large("0"), large("1"), "axis")


def axes(graph: DescribedGraph) -> set[str]:
    return {node.settings["axis"] for node in graph.nodes if node.op == "sum"}


def sums_differ(pair: DescribedPair) -> bool:
    """Stands for a cache whose keys leave out the axis of a sum."""
    both = axes(pair.first), axes(pair.second)
    return all(both) and both[0] != both[1]


def test_only_what_is_confused_is_left() -> None:
    small = shrink(PAIR, sums_differ, lambda: True)
    assert [node.op for node in small.first.nodes] == ["sum"]
    assert [node.op for node in small.second.nodes] == ["sum"]
    assert len(small.first.sources) == 1
    assert sums_differ(small)
    assert shapes(small.first) is not None


def test_nothing_is_asked_when_there_is_no_time() -> None:
    def never(_: DescribedPair) -> bool:
        raise AssertionError("asked")

    assert shrink(PAIR, never, lambda: False) == PAIR


def test_a_pair_that_nothing_smaller_stands_for_stays_and_is_asked_about_once() -> None:
    asked: list[str] = []

    def no(pair: DescribedPair) -> bool:
        asked.append(repr(pair))
        return False

    assert shrink(PAIR, no, lambda: True) == PAIR
    assert len(asked) == len(set(asked)) > 5


def test_equal_graphs_stay_equal() -> None:
    again = DescribedPair(large("0"), large("0"), "names", "names")
    assert all(one.first == one.second for one in smaller(again))
    small = shrink(again, lambda pair: bool(axes(pair.second)), lambda: True)
    assert [node.op for node in small.second.nodes] == ["sum"]


def test_graphs_of_two_shapes_are_made_smaller_one_by_one() -> None:
    other = DescribedGraph((X,), (Node("sum", (0,), {"axis": "1", "keepdims": "", "dtype": ""}),
                                  Node("sqr", (1,))), (2,))  # fmt: skip
    small = shrink(replace(PAIR, second=other), sums_differ, lambda: True)
    assert ([n.op for n in small.first.nodes], [n.op for n in small.second.nodes]) == (
        ["sum"], ["sum"],
    )  # fmt: skip


@settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(pairs())
def test_whatever_is_smaller_is_a_pair_of_the_grammar(pair: DescribedPair) -> None:
    for one in smaller(pair):
        assert size(one) < size(pair)
        assert shapes(one.first) is not None
        assert shapes(one.second) is not None
        assert one.kind == pair.kind
        assert one.equal == pair.equal
