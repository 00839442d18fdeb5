"""The topics: their right values, and what is counted of them. Nothing is compiled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from observatory.benchmarks.catalogue import METRICS, SCENARIOS
from observatory.benchmarks.models.parts.op_classes import nodes_in
from observatory.benchmarks.models.parts.topics.topic import Used, raised
from observatory.benchmarks.models.topics import GRAPHS
from observatory.benchmarks.probes.graphs import counts_of


@pytest.mark.parametrize("name", GRAPHS)
def test_the_right_value_of_a_topic_is_right_and_another_is_wrong(name: str) -> None:
    right = GRAPHS[name].right()
    assert not GRAPHS[name].check(right).wrong
    values = right if isinstance(right, tuple) else (right,)
    other = tuple(np.asarray(one) + 1.0 for one in values)
    assert GRAPHS[name].check(other if isinstance(right, tuple) else other[0]).wrong


def test_every_topic_tells_a_count_or_is_used_further() -> None:
    told = set(SCENARIOS["topics"].tells)
    assert all(METRICS[name].noun for name in told)
    for name, one in GRAPHS.items():
        assert one.tells or one.error_again, name
        assert set(one.tells) <= told, name


def test_a_call_that_raises_is_told_from_one_that_returns() -> None:
    assert raised(lambda: int("x"), ValueError) == 1.0
    assert raised(lambda: 1, ValueError) == 0.0
    with pytest.raises(ZeroDivisionError):
        raised(lambda: 1 // 0, ValueError)


def test_a_further_use_is_another_call() -> None:
    one = Used(lambda: "first", lambda: "further")
    assert (one(np.zeros(1)), one.again()) == ("first", "further")


class Blockwise:
    """Stands for PyTensor's Op."""

    def __init__(self, inner: Any = None) -> None:
        self.fgraph = inner


def graph(op: Any, *inputs: Any) -> Any:
    """A graph of one node."""
    node = SimpleNamespace(op=op, inputs=list(inputs))
    # A namespace has no hash.
    hashed = type("Node", (), vars(node))()
    return SimpleNamespace(outputs=[SimpleNamespace(owner=hashed)])


def test_nodes_of_inner_graphs_count_and_a_node_that_is_used_twice_counts_once() -> None:
    leaf = SimpleNamespace(owner=None)
    inner = graph(Blockwise(), leaf)
    (below,) = graph(SimpleNamespace(fgraph=inner), leaf).outputs
    both = graph(SimpleNamespace(), below, below)
    assert len(list(nodes_in(both.outputs))) == 3
    found = counts_of([both], ("graph_nodes", "blockwise_nodes"))
    assert found == {"graph_nodes": 3, "blockwise_nodes": 1}
    assert counts_of([both], ()) == {}


def test_a_state_of_which_only_the_last_value_is_kept_is_one_stored_step() -> None:
    class Scan:
        info = SimpleNamespace(n_untraced_sit_sot=2)
        outer_mitsot = outer_sitsot = outer_nitsot = staticmethod(lambda inputs: [])

    loop = SimpleNamespace(op=Scan(), inputs=[])
    before = SimpleNamespace(op=Scan(), inputs=[])
    before.op.info = SimpleNamespace(n_shared_outs=1)  # its name in older releases
    found = counts_of([SimpleNamespace(apply_nodes=[loop, before])], ("stored_steps",))
    assert found == {"stored_steps": 3}
