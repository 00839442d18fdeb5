"""Broadcasting at run time: a length of 1 that the type does not know is refused, not repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.case import OTHER, VECTOR, Case, Cases, Input
from .topic import NODES, Used, raised, topic, used

_KNOWN = Input(lambda np: np.array([2.5]), shape=(1,))


def _refused(build: Callable[[Any, Any, Any], Any], right: Callable[[Any, Any, Any], Any]) -> Case:
    """Two vectors of length five are right; then one of the second has length 1, and is refused."""

    def make(mode: Any) -> Used:
        import numpy as np
        import pytensor
        import pytensor.tensor as pt

        x, y = pt.vector("x", dtype="float64"), pt.vector("y", dtype="float64")
        function = pytensor.function([x, y], build(pt, x, y), mode=mode)
        given, other = VECTOR.make(np), OTHER.make(np)
        return Used(
            lambda: function(given, other),
            lambda: raised(lambda: function(given, other[:1]), ValueError),
        )

    return used(
        make, lambda np: right(np, VECTOR.make(np), OTHER.make(np)), lambda np: np.array(1.0)
    )


CASES: Cases = {
    "elemwise_refused": _refused(lambda pt, x, y: x * y, lambda np, x, y: x * y),
    "alloc_refused": _refused(
        lambda pt, x, y: pt.alloc(pt.exp(y), x.shape[0]), lambda np, x, y: np.exp(y)
    ),
    "alloc_matrix_refused": _refused(
        lambda pt, x, y: pt.alloc(y, 2, x.shape[0]), lambda np, x, y: np.stack([y, y])
    ),
    "set_refused": _refused(lambda pt, x, y: pt.set_subtensor(x[:], y), lambda np, x, y: y),
    "alloc_known": topic(
        lambda pt, x, y: pt.alloc(y, x.shape[0]) + x,
        lambda np, x, y: np.repeat(y, 5) + x,
        VECTOR,
        _KNOWN,
        tells=NODES,
    ),
    "elemwise_known": topic(
        lambda pt, x, y: x * y, lambda np, x, y: x * y, VECTOR, _KNOWN, tells=NODES
    ),
}
