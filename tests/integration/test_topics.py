"""The topics with the newest release: real graphs, compiled and counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.integration.conftest import Bench

pytestmark = pytest.mark.integration
EQUAL = ("inner.op_from_graph", "inner.op_from_graph.made_otherwise")
UNLIKE = "inner.op_from_graph.unlike"


@pytest.fixture(scope="module")
def counted(bench: Bench) -> Mapping[str, Mapping[str, Any]]:
    """The counts of a few topics by graph, from one sample."""
    some = replace(
        bench, graphs=(*EQUAL, UNLIKE, "loop.for.all", "ifelse.cheap_taken", "shared.new_value")
    )
    found = some.sample(
        "topics", "NUMBA", "--model", "topics", "--pass", "counting", "--launch", "spawn"
    )
    assert found.record["status"] == "ok", found.record["failure"]
    assert found.metrics["wrong_results"] == found.metrics["graphs_raised"] == 0
    return {step["name"]: step["metrics"] for step in found.record["steps"]}


def test_only_an_unlike_inner_graph_is_compiled_again(
    counted: Mapping[str, Mapping[str, Any]],
) -> None:
    equal = {counted[name]["compiled_again"] for name in EQUAL}
    assert equal == {1}  # the function that has it
    assert counted[UNLIKE]["compiled_again"] > 1


def test_no_count_of_a_graph_depends_on_those_before_it(
    counted: Mapping[str, Mapping[str, Any]],
) -> None:
    first, second = (counted[name]["cache_misses"] for name in EQUAL)
    assert first == second > 1


def test_steps_branches_and_new_values_are_counted(
    counted: Mapping[str, Mapping[str, Any]],
) -> None:
    assert counted["loop.for.all"]["stored_steps"] == 51  # fifty, and the first value
    assert counted["ifelse.cheap_taken"]["branch_evaluations"] == 1
    assert counted["shared.new_value"]["compiled_again"] == 0
