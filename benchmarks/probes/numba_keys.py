"""Probe on numba's keys: what its disk cache will be asked for, before anything is compiled.

PyTensor gives every function its key while it converts a graph. Machine code is made at the first
call only, so that the keys of a graph cost little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_MODULE = "pytensor.link.numba.dispatch.basic"
_FUNCTION = "numba_funcify_ensure_cache"
_OF_A_TYPE = ("dtype", "ndim", "format")

Question = tuple[str, tuple[Any, ...]]
"""What the cache is asked for: the key of a function and what numba adds, the types of its inputs.
Numba does not know static shapes."""


@dataclass
class Keys:
    """The keys of one graph."""

    outer: Question | None = None
    """Of the whole graph; None: PyTensor does not store it."""
    ops: dict[Question, list[Any]] = field(default_factory=dict)
    """By what the cache is asked for, the Ops whose functions ask, each with the types of what it
    returns; those of inner graphs too."""
    missing: int = 0
    """Functions without a key, the outer one among them: PyTensor stores none of these."""


def problem() -> str | None:
    """Return why this PyTensor has no keys to compare, as a sentence; None if it has."""
    if find_spec("numba") is None:
        return "numba is not installed in this environment"
    if not hasattr(import_module(_MODULE), _FUNCTION):
        return "this PyTensor gives functions of numba no keys of its own: that came with 2.36"
    return None


def keys_of(compiled: Callable[[Any], Any], mode: Any) -> Keys:
    """Compile a graph in a mode without calling it, and return its keys.

    ``compiled``: `compile` of `benchmarks.models.Graph`. Raises what the subject raises.
    """
    with _recording() as keys:
        compiled(mode)
    return keys


def are_suspect(first: Keys, second: Keys, *, equal: bool) -> bool:
    """Return whether the keys of a pair are not what they should be.

    Those of equal graphs should be equal, and those of others different: as a whole, and those of
    any two Ops that are not equal for PyTensor or return other types. What is not stored is no
    suspect.
    """
    if equal:
        return first.outer != second.outer
    if first.outer is not None and first.outer == second.outer:
        return True
    return any(
        not any(op == other for other in first.ops[question])
        for question, ops in second.ops.items()
        if question in first.ops
        for op in ops
    )


@contextmanager
def _recording() -> Iterator[Keys]:
    """Note what every function that PyTensor makes in the block will ask for."""
    keys = Keys()

    def note(op: Any, node: Any, function: Any, key: str | None, outer: bool) -> None:
        if key is None:
            keys.missing += 1
            return
        question = asked(op, node, function, key)
        if outer:
            keys.outer = question
        elif node is not None:
            keys.ops.setdefault(question, []).append((op, _types(node.outputs)))

    with watching(note):
        yield keys


@contextmanager
def watching(note: Callable[[Any, Any, Any, str | None, bool], None]) -> Iterator[None]:
    """Call a function with each function that PyTensor makes in the block.

    ``note`` gets the Op, its node or None, the function, its key or None, and whether it is that of
    the whole graph.
    """
    basic = import_module(_MODULE)
    original, depth = getattr(basic, _FUNCTION), 0

    def observed(op: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        depth += 1
        try:
            function, key = original(op, *args, **kwargs)
        finally:
            depth -= 1
        note(op, args[0] if args else kwargs.get("node"), function, key, depth == 0)
        return function, key

    setattr(basic, _FUNCTION, observed)
    try:
        yield
    finally:
        setattr(basic, _FUNCTION, original)


def asked(op: Any, node: Any, function: Any, key: str) -> Question:
    """What the cache will be asked for."""
    return _stored_as(function, key), _types((node or op).inputs)


def _stored_as(function: Any, key: str) -> str:
    """The key as numba's cache will be asked for it: PyTensor adds the flag `fastmath` to it."""
    from pytensor.link.numba import cache

    made = getattr(function, "py_func", function)
    locator = cache.NumbaPyTensorCacheLocator.from_function(made, made.__code__.co_filename)
    stored: str = key if locator is None else locator.get_disambiguator()
    return stored


def _types(variables: Any) -> tuple[Any, ...]:
    """What numba knows of the inputs of a function."""
    return tuple(
        (type(one.type).__name__, *(getattr(one.type, name, None) for name in _OF_A_TYPE))
        for one in variables
    )
