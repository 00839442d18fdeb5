"""What differs between two keys, down to the part that does."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from observatory.analyze.keys import UNSEEN, Difference, KeyChange, changes, compared
from observatory.benchmarks.messages import KeyedFunction, KeyPart


def leaf(value: str, name: str = "") -> KeyPart:
    return KeyPart(name, value, ())


def op(kind: str, *properties: KeyPart, digest: str = "d" * 64, name: str = "") -> KeyPart:
    """The key of an Op: a hash of its class and its properties."""
    return KeyPart(name, digest, (leaf(f"<class 'pytensor.tensor.x.{kind}'>"), *properties))


def function(name: str, *parts: KeyPart, key: str = "k") -> KeyedFunction:
    return KeyedFunction(name, key, parts)


def differences(base: KeyedFunction, head: KeyedFunction) -> list[Difference]:
    return list(compared(base, head))


PARTS = st.recursive(
    st.builds(KeyPart, st.sampled_from(["", "axis"]), st.text("ab", max_size=2), st.just(())),
    lambda inner: st.builds(
        KeyPart,
        st.sampled_from(["", "axis"]),
        st.sampled_from(["", "d" * 64]),
        st.lists(inner, max_size=9).map(tuple),
    ),
)
FUNCTIONS = st.builds(
    KeyedFunction,
    st.sampled_from(["exp", "log"]),
    st.sampled_from(["", "a", "b"]),
    st.lists(PARTS, max_size=3).map(tuple),
)


@given(st.lists(FUNCTIONS, max_size=4))
def test_what_is_equal_is_the_same(functions: list[KeyedFunction]) -> None:
    assert all(change.same for change in changes(functions, functions))


@given(FUNCTIONS, FUNCTIONS)
def test_two_keys_that_differ_have_a_difference_that_says_how(
    base: KeyedFunction, head: KeyedFunction
) -> None:
    found = differences(base, head)
    if base.key != head.key:
        assert found
    for one in found:
        assert one.base is not None or one.head is not None


def test_a_property_is_named_with_the_class_and_the_parts_that_it_is_in() -> None:
    base, head = (
        function("Sum", op("Sum", leaf(axis, "axis"), leaf("1", "version"), name="key"), key=axis)
        for axis in ("0", "1")
    )
    assert differences(base, head) == [Difference(("key", "Sum", "axis"), "0", "1")]


def test_a_part_that_only_one_side_has_is_named() -> None:
    base = function("Sum", op("Sum", leaf("0", "axis"), name="key"), key="a")
    head = function("Sum", op("Sum", leaf("0", "axis"), leaf("2", "v"), name="key"), key="b")
    assert differences(base, head) == [Difference(("key", "Sum", "v"), None, "2")]


def test_what_a_release_appends_to_a_key_is_all_that_differs() -> None:
    """2.36.3 appends `_fastmath1` to keys that were the hash of an Op alone."""
    own = op("Sum", leaf("0", "axis"))
    base = function("Sum", replace(own, name="key"), key="a")
    head = function("Sum", KeyPart("key", "d_fastmath1", (own, leaf("_fastmath1"))), key="b")
    assert differences(base, head) == [Difference(("key",), None, "_fastmath1")]
    assert differences(head, base) == [Difference(("key",), "_fastmath1", None)]


def graph(*nodes: KeyPart, key: str) -> KeyedFunction:
    inner = tuple(KeyPart("", "", (leaf(str(n)), node)) for n, node in enumerate(nodes))
    return function("outer graph", KeyPart("nodes", "", inner), key=key)


def test_an_op_within_a_graph_is_told_and_not_the_graph() -> None:
    exp, old, new = op("Exp"), op("Sum", leaf("0", "axis")), op("Sum", leaf("1", "axis"))
    found = differences(graph(exp, old, key="a"), graph(exp, new, key="b"))
    assert found == [Difference(("nodes", "Sum", "axis"), "0", "1")]


def test_of_another_graph_the_ops_are_counted() -> None:
    """No node of one stands for a node of the other: a list of them all would say nothing."""
    base = graph(*(op("Sum", leaf(str(n))) for n in range(7)), key="a")
    head = graph(*(op("Sum", leaf(str(n))) for n in range(20, 24)), op("Exp"), op("Log"), key="b")
    (found,) = differences(base, head)
    assert (found.base, found.head) == ("7 Sum", "4 Sum, 1 Exp, 1 Log")


def test_a_function_that_is_no_longer_stored_has_no_key() -> None:
    found = differences(function("Scan", key="a"), function("Scan", key=""))
    assert found == [Difference(("key",), "a", "none: it is not stored")]


def test_keys_that_differ_in_nothing_that_is_seen_say_so() -> None:
    assert differences(function("x", key="a"), function("x", key="b")) == [
        Difference((UNSEEN,), "a", "b")
    ]


def test_what_numba_adds_to_an_equal_key_differs_as_well() -> None:
    base, head = (function("x", leaf(version, "version")) for version in ("0.67", "0.68"))
    (change,) = changes([base], [head])
    assert change.differences == (Difference(("version",), "0.67", "0.68"),)


def test_functions_are_compared_with_those_of_the_same_types() -> None:
    """Two functions have one name; the other side asks for them in another order."""
    vector, matrix = leaf("float64[:]", "types of the inputs"), leaf("f8", "types of the inputs")
    base = [function("exp", vector, key="v"), function("exp", matrix, key="m")]
    head = [function("exp", matrix, key="m"), function("exp", vector, key="w")]
    assert changes(base, head) == [
        KeyChange("exp", "v", "w", (Difference((UNSEEN,), "v", "w"),)),
        KeyChange("exp", "m", "m", ()),
    ]
