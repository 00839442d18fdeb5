"""Pairs of Ops whose properties differ and have one text: a key must not be made from the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from .draft import Draft, module
from .pair import Pair, differ

_NUMBA = ("NumbaLinker",)


@dataclass(frozen=True)
class Reticent:
    """A number that its text does not say. PyTensor pickles it, so that it is no local class."""

    number: float

    def __repr__(self) -> str:
        return "a number"


@cache
def _scaled() -> Any:
    """A class of Ops that multiply by a number. Raises NotInThisRelease."""
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op

    dispatch = module("link.numba.dispatch.basic")
    register = dispatch.register_funcify_default_op_cache_key

    class Scaled(Op):  # type: ignore[misc]
        __props__ = ("held",)

        def __init__(self, held: object, number: float) -> None:
            self.held = held
            self.number = number

        def make_node(self, x: Any) -> Any:
            return Apply(self, [x], [x.type()])

        def perform(self, _node: Any, inputs: Any, outputs: Any) -> None:
            outputs[0][0] = inputs[0] * self.number

    def implementation(op: Any, **_: Any) -> Any:
        factor = op.number

        def scaled(x: Any) -> Any:
            return x * factor

        return dispatch.numba_njit(scaled)

    register(Scaled)(implementation)
    return Scaled


def _by(hold: Callable[[Reticent], object]) -> Callable[[Draft, float], Any]:
    return lambda d, number: _scaled()(hold(Reticent(number)), number)(d.vector())


PAIRS: Mapping[str, Pair] = {
    "differ.printed.property": differ(_by(lambda one: one), 2.0, 3.0, linkers=_NUMBA),
    "differ.printed.in_tuple": differ(_by(lambda one: (1, one)), 2.0, 3.0, linkers=_NUMBA),
}
