"""The topics with the newest release: real graphs, compiled and counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from observatory.benchmarks.models.parts import c_sharing
from tests.integration.conftest import Bench

pytestmark = pytest.mark.integration
EQUAL = ("inner.op_from_graph", "inner.op_from_graph.made_otherwise")
UNLIKE = "inner.op_from_graph.unlike"


def test_each_topic_has_the_counts_of_its_own_graph(bench: Bench) -> None:
    found = replace(bench, graphs=(*EQUAL, UNLIKE, "loop.for.all")).sample(
        "topics", "NUMBA", "--model", "topics", "--pass", "counting", "--launch", "spawn"
    )
    assert found.record["status"] == "ok", found.record["failure"]
    assert found.metrics["wrong_results"] == found.metrics["graphs_raised"] == 0
    counts = {step["name"]: step["metrics"] for step in found.record["steps"]}
    # Of an equal inner graph only the function that has it is compiled again.
    assert [counts[name]["compiled_again"] for name in EQUAL] == [1, 1]
    assert counts[UNLIKE]["compiled_again"] > 1
    # No graph finds in the cache what another one has stored.
    first, second = (counts[name]["cache_misses"] for name in EQUAL)
    assert first == second > 1
    assert counts["loop.for.all"]["stored_steps"] == 51  # fifty, and the first value


def test_ops_with_c_code_are_stored_reused_or_refused(bench: Bench) -> None:
    found = bench.sample(
        "topics", "C_VM", "--model", "c_ops", "--pass", "counting", "--launch", "spawn"
    )
    assert found.record["status"] == "ok", found.record["failure"]
    # Not that the next build works: PyTensor 3.3.8 fails there (docs/findings.md).
    assert found.metrics["wrong_results"] == 0
    steps = {step["name"]: step for step in found.record["steps"]}
    of_one_code = [step for name, step in steps.items() if name.startswith("unpicklable.")]
    assert len(of_one_code) == 4
    for step in of_one_code:
        assert (step["metrics"]["cache_misses"], step["metrics"]["compiled_again"]) == (1, 0)
    unversioned = steps["unversioned.one_code"]["metrics"]
    assert (unversioned["uncacheable"], unversioned["functions_compiled"]) == (1, 1)
    for name in ("refused.one_code", "refused.does_not_compile", *c_sharing.GRAPHS):
        assert steps[name]["status"] == "ok", steps[name]["note"]


def test_a_frozen_graph_of_another_process_is_equal(bench: Bench) -> None:
    found = replace(bench, graphs=("equal.process",)).sample(
        "freezing", "NUMBA", "--model", "frozen", "--pass", "counting", "--launch", "spawn"
    )
    assert found.record["status"] == "ok", found.record["failure"]
    assert found.metrics["wrong_results"] == found.metrics["graphs_raised"] == 0
