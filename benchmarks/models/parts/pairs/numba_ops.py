"""An Op that numba compiles, whose key has what a pair wants it to have.

Model files import this module at their top, so that it imports PyTensor in functions.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from .draft import module


@cache
def scaled(props: tuple[str, ...] = (), *, keyed: bool = True) -> Any:
    """Return a class of Ops that multiply by ``factor``.

    ``props``: the properties that make two of them equal and that their key has. ``keyed``: whether
    they have a key. An Op is made of ``factor``, ``version``, of its implementation, and ``held``.
    Raises NotInThisRelease.
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
