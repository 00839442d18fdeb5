"""Ops that numba compiles, whose keys have what a pair wants them to have.

Model files import this module at their top, so that it imports PyTensor in functions.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from .draft import module


@cache
def scaled(props: tuple[str, ...] = (), *, keyed: bool = True, name: str = "Scaled") -> Any:
    """Return a class of Ops that multiply by ``factor``.

    ``props``: the properties that make two of them equal and that their key has. ``keyed``: whether
    they have a key. ``name``: of the class; the function has the same name for all of them. An Op
    is made of ``factor``, ``version``, of its implementation, and ``held``. Raises
    NotInThisRelease.
    """
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op

    dispatch = module("link.numba.dispatch.basic")
    register = dispatch.register_funcify_default_op_cache_key

    class Scaled(Op):  # type: ignore[misc]
        __props__ = props

        def __init__(self, factor: float, *, version: int = 1, held: object = None) -> None:
            self.factor, self.version, self.held = factor, version, held

        def make_node(self, x: Any) -> Any:
            return Apply(self, [x], [x.type()])

        def perform(self, _node: Any, inputs: Any, outputs: Any) -> None:
            outputs[0][0] = inputs[0] * self.factor

    Scaled.__name__ = Scaled.__qualname__ = name

    def implementation(op: Any, **_: Any) -> Any:
        factor = op.factor

        def multiplied(x: Any) -> Any:
            return x * factor

        return dispatch.numba_njit(multiplied), op.version

    if keyed:
        register(Scaled)(implementation)
    else:
        dispatch.numba_funcify.register(Scaled)(lambda op, **more: implementation(op, **more)[0])
    return Scaled


@cache
def times_first() -> Any:
    """Return a class of Ops that multiply by entry 1,000 of the first array of a tuple.

    Raises NotInThisRelease.
    """
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op

    dispatch = module("link.numba.dispatch.basic")

    class TimesFirst(Op):  # type: ignore[misc]
        __props__ = ()

        def make_node(self, x: Any, held: Any) -> Any:
            return Apply(self, [x, held], [x.type()])

        def perform(self, _node: Any, inputs: Any, outputs: Any) -> None:
            outputs[0][0] = inputs[0] * inputs[1][0][1000]

    def implementation(_op: Any, **_: Any) -> Any:
        def times_first(x: Any, held: Any) -> Any:
            return x * held[0][1000]

        return dispatch.numba_njit(times_first)

    dispatch.register_funcify_default_op_cache_key(TimesFirst)(implementation)
    return TimesFirst


@cache
def one_of_many() -> Any:
    """Return a class of Ops that return the input at ``place``. Raises NotInThisRelease."""
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op

    dispatch = module("link.numba.dispatch.basic")

    class OneOfMany(Op):  # type: ignore[misc]
        __props__ = ("place",)

        def __init__(self, place: int) -> None:
            self.place = place

        def make_node(self, *inputs: Any) -> Any:
            return Apply(self, inputs, [inputs[0].type()])

        def perform(self, _node: Any, inputs: Any, outputs: Any) -> None:
            outputs[0][0] = inputs[self.place]

    def implementation(op: Any, node: Any, **_: Any) -> Any:
        names = [f"x{number}" for number in range(len(node.inputs))]
        made: dict[str, Any] = {}
        exec(f"def one_of_many({', '.join(names)}): return {names[op.place]}", made)  # noqa: S102
        return dispatch.numba_njit(made["one_of_many"])

    dispatch.register_funcify_default_op_cache_key(OneOfMany)(implementation)
    return OneOfMany
