"""The difference of two profiles: exact in sum, and the main part first."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.analyze.profiles.difference import attributed, difference
from observatory.benchmarks.profiles import OTHER, ROOT
from observatory.store.records.profile import CallTree, Phase, Profile, Rewriter

Calls = dict[str, object]
"""Callees by name: a number of entries, or the entries and the callees in turn."""


def tree(calls: Calls, floor: int = 0) -> CallTree:
    names: list[str] = [ROOT, OTHER]
    entries: Counter[str] = Counter()
    nodes: list[tuple[int, str, int]] = [(0, ROOT, 0)]

    def add(callees: Calls, depth: int) -> None:
        for name, what in callees.items():
            count, below = what if isinstance(what, tuple) else (what, {})
            assert isinstance(count, int)
            entries[name] += count
            if name not in names:
                names.append(name)
            nodes.append((depth, name, count))
            add(below, depth + 1)

    add(calls, 1)
    modules: dict[str, list[str]] = {"": [ROOT, OTHER]}
    if names[2:]:
        modules["m"] = [name.removeprefix("m:") for name in names[2:]]
    return CallTree(
        calls=sum(entries.values()),
        floor=floor,
        modules=modules,
        entries=[entries[name] for name in names],
        depths=[depth for depth, _, _ in nodes],
        functions=[names.index(name) for _, name, _ in nodes],
        counts=[count for _, _, count in nodes],
    )


some_calls = st.recursive(
    st.dictionaries(st.sampled_from(["m:a", "m:b", "m:c", OTHER]), st.integers(0, 99), max_size=3),
    lambda below: st.dictionaries(
        st.sampled_from(["m:a", "m:b", "m:c", "m:d", "m:e"]),
        st.tuples(st.integers(0, 99), below),
        max_size=4,
    ),
    max_leaves=30,
)
some_trees = st.builds(tree, some_calls, st.integers(0, 20))


def grown(base: Calls, head: Calls) -> dict[str, int]:
    """The functions with their additional calls, in the order in which they are named."""
    found = difference(Profile(tree=tree(base)), Profile(tree=tree(head)))
    assert found is not None
    return {change.name: change.calls for change in found.functions}


@given(some_trees, some_trees)
def test_what_is_attributed_adds_up_to_the_difference(base: CallTree, head: CallTree) -> None:
    assert sum(attributed(base, head).values()) == pytest.approx(head.calls - base.calls)


@given(some_trees)
def test_equal_profiles_do_not_differ(one: CallTree) -> None:
    assert all(abs(calls) < 1e-6 for calls in attributed(one, one).values())


@given(some_trees, some_trees)
def test_the_other_way_round_everything_that_has_a_sum_changes_its_sign(
    base: CallTree, head: CallTree
) -> None:
    there = sum(attributed(base, head).values())
    assert sum(attributed(head, base).values()) == pytest.approx(-there)


def test_a_function_that_is_entered_more_often_is_named_with_all_that_it_calls() -> None:
    base: Calls = {"m:main": (1, {"m:one": (10, {"m:leaf": 100}), "m:two": (5, {"m:leaf": 50})})}
    head: Calls = {"m:main": (1, {"m:one": (20, {"m:leaf": 200}), "m:two": (5, {"m:leaf": 50})})}
    assert grown(base, head) == {"m:one": 110}


def test_a_function_that_does_more_in_itself_is_found_at_what_it_calls() -> None:
    base: Calls = {"m:main": (1, {"m:one": (10, {"m:leaf": 100, "m:fixed": 10})})}
    head: Calls = {"m:main": (1, {"m:one": (10, {"m:leaf": 900, "m:fixed": 10})})}
    found = difference(Profile(tree=tree(base)), Profile(tree=tree(head)))
    assert found is not None
    (change,) = found.functions
    assert (change.name, change.calls, change.caller) == ("m:leaf", 800, "m:one")
    assert (change.base, change.head, change.share, change.new) == (100, 900, 1.0, False)


def test_a_larger_graph_is_the_work_of_what_goes_through_it() -> None:
    base: Calls = {
        "m:apply": (1, {"m:node": (100, {"m:one": (100, {"m:leaf": 300}), "m:two": 50})})
    }
    head: Calls = {
        "m:apply": (1, {"m:node": (150, {"m:one": (150, {"m:leaf": 450}), "m:two": 75})})
    }
    assert grown(base, head) == {"m:node": 50 + 50 + 150 + 25}


def test_of_what_a_dispatcher_calls_only_what_grew_is_named() -> None:
    base: Calls = {
        "m:call": (100, {"m:one": (50, {"m:leaf": 500}), "m:two": (50, {"m:leaf": 900})})
    }
    head: Calls = {
        "m:call": (150, {"m:one": (100, {"m:leaf": 1000}), "m:two": (50, {"m:leaf": 900})})
    }
    assert grown(base, head) == {"m:one": 550, "m:call": 50}


def test_a_new_wrapper_has_its_own_entries_and_changes_nothing_else() -> None:
    base: Calls = {"m:main": (1, {"m:one": (10, {"m:leaf": 100})})}
    head: Calls = {"m:main": (1, {"m:wrapper": (10, {"m:one": (10, {"m:leaf": 100})})})}
    assert grown(base, head) == {"m:wrapper": 10}


def test_a_new_name_is_no_additional_work() -> None:
    base: Calls = {"m:main": (1, {"m:old": (10, {"m:leaf": 100})})}
    head: Calls = {"m:main": (1, {"m:new": (10, {"m:leaf": 100})})}
    assert grown(base, head) == {}


def test_a_new_name_that_does_more_is_named_with_the_old_one() -> None:
    base: Calls = {"m:main": (1, {"m:old": (100, {}), "m:older": (500, {}), "m:gone": (9, {})})}
    head: Calls = {"m:main": (1, {"m:new": (108, {}), "m:leaf": (1, {})})}
    found = difference(Profile(tree=tree(base)), Profile(tree=tree(head)))
    assert found is not None
    assert [(c.name, c.base, c.head, c.calls, c.replaces, c.new) for c in found.functions] == [
        ("m:new", 100, 108, 8, "m:old", False),
        ("m:leaf", 0, 1, 1, None, True),
        ("m:gone", 9, 0, -9, None, False),
        ("m:older", 500, 0, -500, None, False),
    ]


def test_a_wrapper_that_calls_twice_is_beside_what_it_calls() -> None:
    base: Calls = {"m:main": (1, {"m:one": (10, {"m:leaf": 100}), "m:two": (9, {"m:leaf": 7})})}
    head: Calls = {"m:main": (1, {"m:wrapper": (10, {"m:one": (20, {"m:leaf": 200})}),
                                  "m:two": (9, {"m:leaf": 7})})}  # fmt: skip
    assert grown(base, head) == {"m:one": 110, "m:wrapper": 10}


def test_a_recursion_through_a_wrapper_stays_one_function() -> None:
    base: Calls = {"m:one": (5, {"m:leaf": 10})}
    head: Calls = {"m:one": (1, {"m:wrapper": (4, {"m:one": (4, {"m:leaf": 10})})})}
    assert grown(base, head) == {"m:wrapper": 4}


def test_what_one_side_summed_into_others_is_no_growth() -> None:
    base = tree({"m:main": (1, {OTHER: 150}), "m:two": 95}, floor=100)
    head = tree({"m:main": (1, {"m:two": 101, OTHER: 50}), "m:two": 95}, floor=100)
    found = attributed(base, head)
    assert {name: calls for (name, _), calls in found.items() if round(calls)} == {OTHER: 1}


def test_rewriters_and_phases_are_named_with_their_counts_the_largest_growth_first() -> None:
    def profile(calls: int, merge: int, new: int) -> Profile:
        rewriters = [Rewriter(name="merge", tries=merge, calls=10 * merge)]
        if new:
            rewriters.append(Rewriter(name="local_new", tries=new, calls=new))
        return Profile(
            phases=[
                Phase(name="rewriting", entries=1, calls=calls),
                Phase(name="a", entries=1, calls=5),
            ],
            rewriters=rewriters,
            tree=tree({"m:main": calls + 5}),
        )

    found = difference(profile(1000, 20, 0), profile(1400, 50, 40))
    assert found is not None
    assert [(c.name, c.base, c.head, c.calls, c.new) for c in found.rewriters] == [
        ("merge", 20, 50, 300, False),
        ("local_new", 0, 40, 40, True),
    ]
    assert [c.share for c in found.rewriters] == [0.75, 0.1]
    assert [(c.name, c.base, c.head) for c in found.phases] == [("rewriting", 1000, 1400)]


def test_without_a_tree_there_is_no_difference() -> None:
    assert difference(Profile(), Profile(tree=tree({"m:main": 1}))) is None
