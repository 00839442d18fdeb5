"""Pairs of graphs that differ in the version of an Op's implementation alone.

A release that corrects an implementation raises its version, so that nobody gets the code that an
earlier release has stored. The texts of the two graphs are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from .draft import Draft, module
from .pair import Pair, differ

_NUMBA = ("NumbaLinker",)
_PROPERTIES = {"none": None, "simple": 3, "pickled": ((1, 2), (3,))}
"""A property for each way in which PyTensor makes a key of them."""


@cache
def _versioned(props: tuple[str, ...]) -> Any:
    """A class of Ops whose version is none of their properties. Raises NotInThisRelease."""
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op

    dispatch = module("link.numba.dispatch.basic")
    register = dispatch.register_funcify_default_op_cache_key

    class Versioned(Op):  # type: ignore[misc]
        __props__ = props

        def __init__(self, version: int, held: object) -> None:
            self.version = version
            self.held = held

        def make_node(self, x: Any) -> Any:
            return Apply(self, [x], [x.type()])

        def perform(self, _node: Any, inputs: Any, outputs: Any) -> None:
            outputs[0][0] = inputs[0] * float(self.version)

    def implementation(op: Any, **_: Any) -> Any:
        factor = float(op.version)

        def versioned(x: Any) -> Any:
            return x * factor

        return dispatch.numba_njit(versioned), op.version

    register(Versioned)(implementation)
    return Versioned


def _of_version(held: Any) -> Any:
    def build(d: Draft, version: int) -> Any:
        props = () if held is None else ("held",)
        return _versioned(props)(version, held)(d.vector())

    return build


PAIRS: Mapping[str, Pair] = {
    f"differ.version.{name}": differ(_of_version(held), 2, 3, linkers=_NUMBA)
    for name, held in _PROPERTIES.items()
}
