"""An Op that counts how often it is evaluated. PyTensor is imported inside functions."""

from __future__ import annotations

from functools import cache
from typing import Any

_evaluated: list[None] = []


def evaluations() -> int:
    """Return how often Ops of `tallied` were evaluated in this process."""
    return len(_evaluated)


def tallied(x: Any) -> Any:
    """Return a tensor that equals ``x``; every evaluation of it counts. It runs in Python."""
    return _op()(x)


@cache
def _op() -> Any:
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op

    class Tallied(Op):  # type: ignore[misc,unused-ignore]
        """The identity."""

        __props__ = ()

        def make_node(self, x: Any) -> Any:
            return Apply(self, [x], [x.type()])

        def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
            _evaluated.append(None)
            outputs[0][0] = inputs[0].copy()

        def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Any:
            return shapes

    return Tallied()
