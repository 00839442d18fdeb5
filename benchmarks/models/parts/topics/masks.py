"""A mask as `set_subtensor` and as `switch`: the same numbers, and how many nodes each leaves."""

from __future__ import annotations

from typing import Any

from ..ops.case import OTHER, VECTOR, Cases
from .topic import topic


def _set(pt: Any, x: Any) -> Any:
    """Negative numbers become 0."""
    return x[x < 0.0].set(0.0)


def _switch(pt: Any, x: Any) -> Any:
    return pt.switch(x < 0.0, 0.0, x)


def _right(np: Any, x: Any) -> Any:
    return np.where(x < 0.0, 0.0, x)


def _slices(pt: Any, x: Any, y: Any) -> Any:
    """A vector that is filled part by part, as a model does that has several priors."""
    found = pt.zeros(5)
    found = pt.set_subtensor(found[:2], pt.exp(x[:2]))
    return pt.set_subtensor(found[2:], y[2:] * 2.0)


CASES: Cases = {
    "set": topic(_set, _right, VECTOR),
    "switch": topic(_switch, _right, VECTOR),
    "set_gradient": topic(
        lambda pt, x: pt.grad((_set(pt, x) ** 2).sum(), x),
        lambda np, x: 2.0 * _right(np, x),
        VECTOR,
    ),
    "switch_gradient": topic(
        lambda pt, x: pt.grad((_switch(pt, x) ** 2).sum(), x),
        lambda np, x: 2.0 * _right(np, x),
        VECTOR,
    ),
    "parts_set": topic(
        _slices, lambda np, x, y: np.concatenate([np.exp(x[:2]), y[2:] * 2.0]), VECTOR, OTHER
    ),
    "parts_joined": topic(
        lambda pt, x, y: pt.join(0, pt.exp(x[:2]), y[2:] * 2.0),
        lambda np, x, y: np.concatenate([np.exp(x[:2]), y[2:] * 2.0]),
        VECTOR,
        OTHER,
    ),
}
