"""Which pairs of keys are suspect."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from observatory.benchmarks.probes import numba_keys
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


@pytest.fixture
def basic(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of PyTensor that is watched, without anything in it."""
    name = "pytensor.link.numba.dispatch.basic"
    packages = name.split(".")
    for length in range(1, len(packages) + 1):
        package = ".".join(packages[:length])
        monkeypatch.setitem(sys.modules, package, ModuleType(package))
    return sys.modules[name]


def test_functions_without_a_key_are_counted_with_those_inside_of_others(
    basic: ModuleType,
) -> None:
    def ensure_cache(op: list[object], node: object = None) -> tuple[object, None]:
        for inner in op:
            basic.numba_funcify_ensure_cache(inner, node=inner)
        return op, None

    basic.numba_funcify_ensure_cache = ensure_cache  # type: ignore[attr-defined]
    keys = keys_of(lambda graph: basic.numba_funcify_ensure_cache(graph), [[], [[]]])
    assert keys == Keys(missing=4)


def test_an_op_that_returns_another_type_under_its_key_is_suspect(
    basic: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ensure_cache(op: object, node: object = None) -> tuple[object, str]:
        if node is None:  # the whole graph
            basic.numba_funcify_ensure_cache("Cast", node=op)
        return op, "op" if node else str(op)

    def cast(dtype: str) -> Keys:
        output = SimpleNamespace(type=SimpleNamespace(dtype=dtype, ndim=1))
        graph = SimpleNamespace(inputs=[], outputs=[output])
        return keys_of(lambda graph: basic.numba_funcify_ensure_cache(graph), graph)

    basic.numba_funcify_ensure_cache = ensure_cache  # type: ignore[attr-defined]
    monkeypatch.setattr(numba_keys, "_stored_as", lambda _, key: key)
    assert are_suspect(cast("int64"), cast("uint64"), equal=False)
    assert cast("int64").ops == cast("int64").ops
