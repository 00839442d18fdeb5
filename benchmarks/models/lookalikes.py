"""Small graphs that PyTensor compiles under one name, with as much in common as differs.

Equal signatures that differ by a constant, other return types, inner functions of Scan, indexing
that numba may inline or not: whatever two of them have under one symbol, one of them gets wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.models.small import Function, Member, SmallModel, Vector, equal_to, in_pytensor

_GATHERED = np.array([3, 1, 1, 0])


def _member(build: Callable[[Any, Any], Any], expected: Function) -> Member:
    return Member(in_pytensor(build), equal_to(expected))


def _scan(step: Callable[[Any, Any], Any], start: float) -> Callable[[Any, Any], Any]:
    """The last value of a recurrence over the vector."""

    def build(pt: Any, x: Any) -> Any:
        import pytensor

        found = pytensor.scan(
            step, sequences=[x], outputs_info=[pt.constant(start, dtype="float64")]
        )
        # (outputs, updates) for long; outputs alone where return_updates=False became the rule.
        outputs = found[0] if isinstance(found, tuple | list) else found
        return outputs[-1]

    return build


def _put(x: Vector) -> Vector:
    changed = x.copy()
    changed[1:3] = 7.0
    return changed


MODEL = SmallModel(
    {
        "double": _member(lambda _, x: x * 2.0, lambda x: x * 2.0),
        "triple": _member(lambda _, x: x * 3.0, lambda x: x * 3.0),
        "count": _member(lambda _, x: (x > 0).sum(), lambda x: (x > 0).sum()),
        "outer": _member(lambda _, x: x[:, None] * x[None, :], lambda x: np.outer(x, x)),
        "total": _member(_scan(lambda value, sofar: sofar + value, 0.0), lambda x: x.sum()),
        "product": _member(_scan(lambda value, sofar: sofar * value, 1.0), lambda x: x.prod()),
        "gather": _member(lambda _, x: x[_GATHERED], lambda x: x[_GATHERED]),
        "put": _member(lambda _, x: x[1:3].set(7.0), _put),
    }
)
