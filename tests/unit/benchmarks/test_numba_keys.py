"""Which pairs of keys are suspect."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from observatory.benchmarks.probes.numba_keys import Keys, Question, are_suspect, keys_of

VECTOR = ("TensorType", "float64", 1, None)
NUMBERS = ("TensorType", "int64", 1, None)


def asked(key: str, *types: tuple[object, ...]) -> Question:
    return key, types or (VECTOR,)


def test_different_graphs_with_one_key_are_suspect() -> None:
    assert are_suspect(Keys(asked("a")), Keys(asked("a")), equal=False)
    assert not are_suspect(Keys(asked("a")), Keys(asked("b")), equal=False)


def test_a_graph_that_is_not_stored_is_no_suspect() -> None:
    assert not are_suspect(Keys(None), Keys(None), equal=False)
    assert not are_suspect(Keys(None), Keys(None), equal=True)


def test_numba_tells_functions_of_one_key_apart_by_the_types_of_their_inputs() -> None:
    assert not are_suspect(Keys(asked("a")), Keys(asked("a", NUMBERS)), equal=False)


def test_equal_graphs_with_different_keys_are_suspect() -> None:
    assert are_suspect(Keys(asked("a")), Keys(asked("b")), equal=True)
    assert not are_suspect(Keys(asked("a")), Keys(asked("a")), equal=True)


def test_different_ops_with_one_key_are_suspect_where_the_graphs_have_two() -> None:
    """An Op with another number of outputs changes the graph around it, and so its key."""

    def suspect(first: str, second: str, key: str = "op") -> bool:
        one = Keys(asked("a"), {asked("op"): [first]})
        return are_suspect(one, Keys(asked("b"), {asked(key): [second]}), equal=False)

    assert suspect("QR{pivoting=False}", "QR{pivoting=True}")
    assert not suspect("QR{pivoting=False}", "QR{pivoting=False}")
    assert not suspect("QR{pivoting=False}", "QR{pivoting=True}", key="another")


def test_functions_without_a_key_are_counted_with_those_inside_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    basic = ModuleType("basic")

    def ensure_cache(op: list[object], node: object = None) -> tuple[object, None]:
        for inner in op:
            basic.numba_funcify_ensure_cache(inner, node=inner)
        return op, None

    basic.numba_funcify_ensure_cache = ensure_cache  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pytensor.link.numba.dispatch.basic", basic)
    for package in ("pytensor", "pytensor.link", "pytensor.link.numba"):
        monkeypatch.setitem(sys.modules, package, ModuleType(package))
    monkeypatch.setitem(sys.modules, "pytensor.link.numba.dispatch", ModuleType("dispatch"))
    keys = keys_of(lambda graph: basic.numba_funcify_ensure_cache(graph), [[], [[]]])
    assert keys == Keys(missing=4)
