"""Constants that a graph holds: their memory layout and their size decide whether it is cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .case import VECTOR, Case, Cases, case

_MANY = 200_000
"""Numbers of 8 bytes: numba inlines no array above 1 MB."""


def _weights(make: Callable[[Any], Any]) -> Case:
    """The case of a product with a constant matrix of five rows, which ``make`` takes numpy for."""

    def build(pt: Any, x: Any) -> Any:
        import numpy as np

        return pt.dot(x, pt.constant(make(np)))

    return case(build, lambda np, x: x @ make(np), VECTOR)


def _large(np: Any) -> Any:
    return np.arange(float(_MANY)) * 0.25 / _MANY


def _sum_of_large(pt: Any, x: Any) -> Any:
    import numpy as np

    # A sum of products alone would be rewritten to a product with the sum of the constant.
    return pt.sin(pt.constant(_large(np)) * x[0]).sum()


CASES: Cases = {
    "contiguous": _weights(lambda np: np.arange(20.0).reshape(5, 4)),
    "transposed": _weights(lambda np: np.arange(20.0).reshape(4, 5).T),
    "strided": _weights(lambda np: np.arange(40.0).reshape(5, 8)[:, ::2]),
    "reversed": _weights(lambda np: np.arange(20.0).reshape(5, 4)[::-1]),
    "large": case(_sum_of_large, lambda np, x: np.sin(_large(np) * x[0]).sum(), VECTOR),
}
