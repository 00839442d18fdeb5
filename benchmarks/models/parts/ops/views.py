"""Ops that return their input, and that only a gradient tells from nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .case import OTHER, VECTOR, Case, Cases, Input, case


def _with_gradient(
    name: str, expected: Callable[..., Any], *parameters: float, point: Input = VECTOR
) -> Case:
    """Return the case of the gradient of the squares of a view, beside the view's value."""

    def build(pt: Any, x: Any) -> Any:
        from pytensor import gradient

        view = getattr(gradient, name)(x, *parameters)
        return [pt.grad((view**2 + x).sum(), x), view]

    return case(build, lambda np, x: (expected(np, x), x), point)


def _undefined(_: Any, x: Any) -> Any:
    from pytensor.gradient import undefined_grad

    return undefined_grad(x) * 2.0


CASES: Cases = {
    "gradient_clip": _with_gradient(
        "grad_clip", lambda np, x: np.clip(2.0 * x, -1.0, 1.5) + 1.0, -1.0, 1.5
    ),
    "gradient_scale": _with_gradient("grad_scale", lambda _, x: 3.0 * 2.0 * x + 1.0, 3.0),
    "gradient_zero": _with_gradient("zero_grad", lambda np, x: np.ones_like(x)),
    "gradient_disconnected": _with_gradient(
        "disconnected_grad", lambda np, x: np.ones_like(x), point=OTHER
    ),
    "gradient_undefined": case(_undefined, lambda _, x: 2.0 * x, VECTOR),
}
