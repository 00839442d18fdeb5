"""Small graphs that PyTensor compiles under one name: if two share a symbol, one is wrong.

They have equal signatures and differ by a constant, by their return types, by inner functions of
Scan, or by indexing that numba may inline or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import Model
from .parts.small import Member, SmallModel, equal_to, in_pytensor


def _member(build: Callable[[Any, Any], Any], expected: Callable[[Any, Any], Any]) -> Member:
    return Member(in_pytensor(build), equal_to(expected))


def _scan(step: Callable[[Any, Any], Any], start: float) -> Callable[[Any, Any], Any]:
    """Build the last value of a recurrence over the vector."""

    def build(pt: Any, x: Any) -> Any:
        import pytensor

        found = pytensor.scan(
            step, sequences=[x], outputs_info=[pt.constant(start, dtype="float64")]
        )
        # (outputs, updates) for long; outputs alone where return_updates=False became the rule.
        outputs = found[0] if isinstance(found, tuple | list) else found
        return outputs[-1]

    return build


def _gather(_: Any, x: Any) -> Any:
    import numpy as np

    return x[np.array([3, 1, 1, 0])]


def _put(_: Any, x: Any) -> Any:
    changed = x.copy()
    changed[1:3] = 7.0
    return changed


_GRAPHS = {
    "double": _member(lambda _, x: x * 2.0, lambda _, x: x * 2.0),
    "triple": _member(lambda _, x: x * 3.0, lambda _, x: x * 3.0),
    "count": _member(lambda _, x: (x > 0).sum(), lambda _, x: (x > 0).sum()),
    "outer": _member(lambda _, x: x[:, None] * x[None, :], lambda np, x: np.outer(x, x)),
    "total": _member(_scan(lambda value, sofar: sofar + value, 0.0), lambda _, x: x.sum()),
    "product": _member(_scan(lambda value, sofar: sofar * value, 1.0), lambda _, x: x.prod()),
    "gather": _member(_gather, _gather),
    "put": _member(lambda _, x: x[1:3].set(7.0), _put),
}

MODEL = Model(
    meaning="eight small graphs with the same names: Elemwise, Scan and indexing of several types",
    reference="NumPy",
    build=lambda _: SmallModel(_GRAPHS),
    families=("siblings",),
    members=tuple(_GRAPHS),
    without=("C",),
    because="C alone has no code for some of its operations; C_VM leaves those to Python",
    canary=("siblings fork", "siblings spawn", "siblings_at_once fork"),
    size=0.4,
    order=2,
)
