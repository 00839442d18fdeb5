"""Described pairs on real PyTensor: right where nothing is wrong, and confused by a fault."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from observatory.benchmarks.described import (
    TREATMENTS,
    DescribedGraph,
    DescribedPair,
    DescribedPairs,
    Node,
    Source,
)
from observatory.benchmarks.typed_json import to_json
from observatory.grow.grammar import options
from observatory.grow.rules import RULES
from observatory.grow.shape import shape_of
from observatory.grow.shrinking import pruned
from observatory.run.environments import Environment
from observatory.run.looking import Looked, Looker
from tests.integration.conftest import Bench
from tests.integration.fault_rig import with_fault

pytestmark = pytest.mark.integration

X = Source("float64", (2, 3), ("0.75", "-1.5", "2.25", "3.0", "-0.5", "0.1"), (None, None))


def cumulated(axis: str) -> DescribedGraph:
    return DescribedGraph((X,), (Node("cumsum", (0,), {"axis": axis}),), (1,))


def looker(environment: Environment, scratch: Path) -> Looker:
    return Looker(environment, "NUMBA", scratch, 600.0)


def divided() -> DescribedGraph:
    zeros = Source("int32", (3,), ("6", "0", "-3"), (None,))
    return DescribedGraph((zeros,), (Node("true_div", (0, 0)),), (1,))


def mixed() -> DescribedGraph:
    whole = Source("int32", (3,), ("6", "2", "-3"), (None,))
    tenths = Source("float32", (3,), ("0.1", "0.7", "0.3"), (None,))
    return DescribedGraph((whole, tenths), (Node("sub", (0, 1)),), (2,))


@pytest.fixture(scope="module")
def looked(newest: Environment, tmp_path_factory: pytest.TempPathFactory) -> Looked:
    """What became of all pairs without a fault: one look, whose processes take most of its time."""
    graph = cumulated("0")
    refused = DescribedGraph((X,), (Node("dot", (0, 0)),), (1,))
    pairs = {one: DescribedPair(graph, graph, one, one) for one in TREATMENTS[:4]}
    pairs["refused"] = DescribedPair(graph, refused, "operation")
    for name, equal in (("divided", divided()), ("mixed", mixed())):
        pairs[name] = DescribedPair(equal, equal, "names", "names")
    return looker(newest, tmp_path_factory.mktemp("looked")).look(pairs)


def test_equal_graphs_share_and_what_python_refuses_is_not_judged(looked: Looked) -> None:
    assert {name: looked.seconds[name].finding for name in (*TREATMENTS[:4], "refused")} == {
        **dict.fromkeys(TREATMENTS[:4], ""), "refused": "absent",
    }  # fmt: skip
    assert {one.finding for one in looked.firsts.values()} == {""}


def test_what_rewrites_make_of_a_division_by_zero_is_no_counterexample(looked: Looked) -> None:
    """Rewrites take x / x for 1, whatever x is: the reference would have no number there."""
    assert looked.seconds["divided"].finding == ""


def test_the_precision_of_mixed_dtypes_is_no_counterexample(looked: Looked) -> None:
    """PyTensor 3.3.8 declares float64 where int32 meets float32, and computes with less."""
    assert looked.seconds["mixed"].finding == ""


def test_the_newest_release_makes_every_operation_of_the_grammar(
    bench: Bench, tmp_path: Path
) -> None:
    """What is refused is not judged, so that a misspelt operation would be refused for ever."""
    sources = (X, *(replace(X, dtype=dtype, shape=shape, numbers=numbers * count, known=known)
                    for dtype, shape, numbers, count, known in (
                        ("float64", (3, 3), ("0.75", "-1.5", "2.25"), 3, (None, None)),
                        ("float64", (3,), ("0.75", "-1.5", "2.25"), 1, (None,)),
                        ("bool", (2, 3), ("True", "False"), 3, (None, None)),
                    )))  # fmt: skip
    pool = [shape_of(source) for source in sources]
    pairs = {}
    for op in RULES:
        graph = pruned(DescribedGraph(sources, (options(op, pool)[0],), (len(sources),)))
        pairs[op] = DescribedPair(graph, graph, "names", "names")
    file = tmp_path / "pairs.json"
    file.write_text(to_json(DescribedPairs(pairs)))
    done = subprocess.run(
        [str(bench.environment.python), "-m", "benchmarks.absent", str(file)],
        capture_output=True, text=True, env=bench.environment.variables(), cwd=bench.scratch,
        check=False,
    )  # fmt: skip
    assert done.stdout == "0 graphs cannot be made\n", done.stderr


def test_a_property_that_a_key_leaves_out_is_found(bench: Bench) -> None:
    faulty = with_fault(bench.environment, "property_dropped:CumOp.axis", bench.shelf)
    pair = DescribedPair(cumulated("0"), cumulated("1"), "axis")
    found = looker(faulty, bench.scratch).look({"pair": pair})
    assert found.seconds["pair"].finding == "collided"
