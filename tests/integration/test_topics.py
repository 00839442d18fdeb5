"""The topics with the newest release: real graphs, compiled and counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

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
