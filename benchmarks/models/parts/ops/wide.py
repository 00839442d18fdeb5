"""Nodes with many inputs: Join and Elemwise, below and above the limits of NumPy (32) and numba.

Besides, graphs with more nodes than any model of a user that is measured.
"""

from __future__ import annotations

from typing import Any

from .case import Case, Cases, Input, case

WIDTHS = (5, 15, 31, 45, 60)


def _inputs(width: int) -> list[Input]:
    def vector(number: int) -> Input:
        return Input(lambda np: np.array([number + 0.25, -number, 1.0 / (number + 2.0)]))

    return [vector(number) for number in range(width)]


def _join(width: int) -> Case:
    return case(lambda pt, *x: pt.join(0, *x), lambda np, *x: np.concatenate(x), *_inputs(width))


def _add(width: int) -> Case:
    return case(lambda pt, *x: pt.add(*x), lambda np, *x: np.sum(x, axis=0), *_inputs(width))


def _fused(width: int) -> Case:
    """Return the case of several Ops for each input, which PyTensor fuses."""

    def total(_: Any, first: Any, *others: Any) -> Any:
        for number, one in enumerate(others, start=2):
            first = first * 0.75 + one / number
        return first

    return case(total, total, *_inputs(width))


def _chain(length: int) -> Case:
    """Return the case of one Op after the other, which no rewrite makes fewer."""

    def right(np: Any, x: Any) -> Any:
        for _ in range(length):
            x = np.cumsum(x)
        return x

    def build(pt: Any, x: Any) -> Any:
        for _ in range(length):
            x = pt.cumsum(x)
        return x

    return case(build, right, Input(lambda np: np.array([0.25, -1.0, 2.0])))


CASES: Cases = {
    **{f"chain_{length}": _chain(length) for length in (120, 600)},
    **{f"join_{width}": _join(width) for width in WIDTHS},
    **{f"add_{width}": _add(width) for width in WIDTHS},
    **{f"fused_{width}": _fused(width) for width in (31, 60)},
}
