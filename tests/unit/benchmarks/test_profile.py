"""The tree of calls: exact, whatever generators, exceptions and threads do, and bounded in size."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.benchmarks.probes.profile import Node, _name, profile_of
from observatory.benchmarks.profiles import OTHER, ROOT
from observatory.run import interpreters
from observatory.store.records.profile import CallTree

REWRITING = "pytensor.graph.rewriting.basic:"
TRANSFORM = f"{REWRITING}FromFunctionNodeRewriter.transform"


@pytest.fixture(scope="module")
def python():
    found = interpreters.find().interpreters
    if not found or tuple(map(int, found[0].minor.split("."))) < (3, 12):
        pytest.skip("sys.monitoring needs Python 3.12, and there is none")
    return found[0].path


def test_the_tracer_counts_what_setprofile_sees_in_random_programs(python):
    script = Path(__file__).with_name("random_calls.py")
    done = subprocess.run([python, script, "0", "150"], capture_output=True, text=True, check=True)
    *differing, last = map(json.loads, done.stdout.splitlines())
    assert differing == []
    assert last["programs"] == 150


def test_each_thread_has_a_stack_of_its_own(python):
    script = Path(__file__).with_name("random_calls.py")
    done = subprocess.run([python, script, "threads"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {
        "left": 2000,
        "left right": 0,
        "right": 2000,
        "right left": 0,
    }


def test_how_often_a_process_waits_for_another_one_is_no_work(python):
    """A compiler's answer comes in as many pieces as it had time to write."""
    script = Path(__file__).with_name("random_calls.py")
    done = subprocess.run([python, script, "answers"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert {said for said, _ in found.values()} == {4000}
    assert found["Tracer 1"] == found["Tracer 40"]
    assert found["EntryCounter 1"] == found["EntryCounter 40"]
    assert found["Tracer 1"][1] > 10


NAMES = ["m:a", "m:b", "m:c", "n:a", "n:d.e"]


def node(name, entries, *callees):
    made = Node(None, name)
    made.entries = entries
    for number, callee in enumerate(callees):
        made[number] = callee
    return made


trees = st.recursive(
    st.builds(node, st.sampled_from(NAMES), st.integers(0, 50)),
    lambda below: st.builds(
        lambda name, entries, callees: node(name, entries, *callees),
        st.sampled_from(NAMES), st.integers(0, 50), st.lists(below, max_size=4),
    ),
    max_leaves=40,
)  # fmt: skip


def total(tree):
    return tree.entries + sum(total(callee) for callee in tree.values())


@given(st.lists(trees, max_size=5), st.floats(0, 0.3), st.integers(1, 30))
def test_a_tree_that_is_cut_keeps_every_call(below, kept_share, most_nodes):
    root = node(ROOT, 0, *below)
    tree = profile_of([root], kept_share, most_nodes).tree
    read = CallTree.model_validate(vars(tree))  # its own checks: sums, depths and names
    assert tree.calls == total(root)
    assert sum(name != OTHER for name in (read.names[one] for one in tree.functions)) <= most_nodes


@given(st.lists(trees, max_size=5))
def test_a_tree_that_is_not_cut_lists_each_chain_of_callers_once(below):
    root = node(ROOT, 0, *below)
    tree = CallTree.model_validate(vars(profile_of([root], 0.0, 10**6).tree))
    stacks = [stack for stack, count in tree.stacks() if stack[-1] != OTHER]
    assert len(stacks) == len(set(stacks))
    for name in NAMES:
        entered = sum(count for stack, count in tree.stacks() if stack[-1] == name)
        assert tree.entered.get(name, 0) == entered


def test_small_callees_are_summed_into_one_node():
    small = (node(f"m:b{i}", 10) for i in range(9))
    root = node(ROOT, 0, node("m:a", 1, *small, node("m:c", 909)))
    tree = CallTree.model_validate(vars(profile_of([root], 0.02).tree))
    assert list(tree.stacks()) == [
        ((ROOT,), 0),
        ((ROOT, "m:a"), 1),
        ((ROOT, "m:a", OTHER), 90),
        ((ROOT, "m:a", "m:c"), 909),
    ]
    assert tree.entered == {"m:a": 1, "m:c": 909}


def test_calls_belong_to_the_innermost_phase_and_rewriter():
    rewriter = node("m:local_one", 5, node("m:help", 20), node(TRANSFORM, 2, node("m:two", 2)))
    apply = node(f"{REWRITING}SequentialGraphRewriter.apply", 1, node(TRANSFORM, 5, rewriter),
                 node("m:FusionOptimizer.apply", 1, node("numpy:sum", 7)))  # fmt: skip
    root = node(
        ROOT, 0,
        node("pytensor.compile.maker:FunctionMaker.prepare_fgraph", 1, apply,
             node("_frozen_importlib:_find_and_load", 3, node("m:<module>", 4))),
        node("somewhere:else", 11),
    )  # fmt: skip
    found = profile_of([root])
    assert {(one.name, one.entries, one.calls) for one in found.phases} == {
        ("rewriting", 1, 44), ("importing", 3, 7),
    }  # fmt: skip
    assert {(one.name, one.tries, one.calls) for one in found.rewriters} == {
        ("local_one", 5, 27), ("two", 2, 2), ("FusionOptimizer", 1, 8),
    }  # fmt: skip


def test_what_a_dispatcher_calls_to_compare_types_is_no_rewriter():
    root = node(ROOT, 0, node(TRANSFORM, 1, node("abc:ABCMeta.__instancecheck__", 9)))
    assert profile_of([root]).rewriters == ()


@pytest.mark.parametrize(
    ("module", "qualname", "name"),
    [
        ("m", "f.<locals>.<lambda>", "m:f.<locals>.<lambda>"),
        ("tmpa8f_x1kq", "run", "tmp*:run"),
        ("m", "graph_140234567890", "m:graph_*"),
        ("m", "at_0x7f12ab", "m:at_*"),
        ("numpy._core", "float64", "numpy._core:float64"),
        (None, "<module>", "?:<module>"),
    ],
)
def test_names_say_nothing_that_differs_between_processes(module, qualname, name):
    class Code:
        co_qualname = qualname

    assert _name(Code, {"__name__": module}) == name


def test_a_name_of_any_length_fits_into_the_record():
    class Code:
        co_qualname = "x" * 5000

    assert len(_name(Code, {"__name__": "m"})) <= 200
