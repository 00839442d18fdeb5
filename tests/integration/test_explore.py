"""Described pairs on real PyTensor: right where nothing is wrong, and confused by a fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.described import TREATMENTS, DescribedGraph, DescribedPair, Node, Source
from observatory.run.looking import Looker
from tests.integration.conftest import Bench
from tests.integration.fault_rig import with_fault

pytestmark = pytest.mark.integration

X = Source("float64", (2, 3), ("0.75", "-1.5", "2.25", "3.0", "-0.5", "0.1"), (None, None))


def cumulated(axis: str) -> DescribedGraph:
    return DescribedGraph((X,), (Node("cumsum", (0,), {"axis": axis}),), (1,))


def looker(bench: Bench) -> Looker:
    bench.scratch.mkdir(exist_ok=True)
    return Looker(bench.environment, "NUMBA", bench.scratch, 600.0)


def test_equal_graphs_share_and_what_python_refuses_is_not_judged(bench: Bench) -> None:
    graph = cumulated("0")
    refused = DescribedGraph((X,), (Node("dot", (0, 0)),), (1,))
    pairs = {one: DescribedPair(graph, graph, one, one) for one in TREATMENTS[:4]}
    pairs["refused"] = DescribedPair(graph, refused, "operation")
    found = looker(bench).look(pairs)
    assert {name: one.finding for name, one in found.seconds.items()} == {
        **dict.fromkeys(TREATMENTS[:4], ""), "refused": "absent",
    }  # fmt: skip
    assert {one.finding for one in found.firsts.values()} == {""}


def test_a_property_that_a_key_leaves_out_is_found(bench: Bench) -> None:
    faulty = with_fault(bench.environment, "property_dropped:CumOp.axis", bench.shelf)
    pair = DescribedPair(cumulated("0"), cumulated("1"), "axis")
    found = looker(replace(bench, environment=faulty)).look({"pair": pair})
    assert found.seconds["pair"].finding == "collided"
