"""Elemwise of special functions: PyTensor calls SciPy's through pointers, or has its own code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.models.parts.ops.case import (
    MATRIX,
    NEGATIVE,
    POSITIVE,
    POSITIVE_OTHER,
    ROUGH,
    UNIT,
    VECTOR,
    Case,
    Cases,
    Input,
    case,
    scipys,
    tensors,
)


def _alike(name: str, *inputs: Input, scipy: str = "", limit: float = 1e-8) -> Case:
    """Return the case of a function that has one name in PyTensor and, by default, in SciPy."""
    return case(tensors(name), scipys(f"special.{scipy or name}"), *inputs, limit=limit)


def _derivative(name: str, *inputs: Input) -> Case:
    """Return the case of the derivative by the first input, which PyTensor sums in a loop."""

    def build(pt: Any, *x: Any) -> Any:
        return pt.grad(getattr(pt, name)(*x).sum(), x[0])

    def expected(_: Any, *x: Any) -> Any:
        function: Callable[..., Any] = scipys(f"special.{name}")
        step = 1e-5
        up, down = (function(None, x[0] + by, *x[1:]) for by in (step, -step))
        return (up - down) / (2.0 * step)

    return case(build, expected, *inputs, limit=ROUGH)


def _log1mexp(np: Any, x: Any) -> Any:
    return np.log(-np.expm1(x))


CASES: Cases = {
    "gammaln": _alike("gammaln", POSITIVE),
    "psi": _alike("psi", POSITIVE),
    "tri_gamma": case(
        tensors("tri_gamma"), lambda _, x: scipys("special.polygamma")(None, 1, x), POSITIVE
    ),
    "polygamma": case(
        lambda pt, x: pt.polygamma(2, x),
        lambda _, x: scipys("special.polygamma")(None, 2, x),
        POSITIVE,
    ),
    "erf": _alike("erf", VECTOR),
    "erfcx": _alike("erfcx", VECTOR),
    "erfinv": _alike("erfinv", UNIT),
    "gammainc": _alike("gammainc", POSITIVE, POSITIVE_OTHER),
    "gammaincinv": _alike("gammaincinv", POSITIVE, UNIT),
    "betainc": _alike("betainc", POSITIVE, POSITIVE_OTHER, UNIT),
    "iv": _alike("iv", POSITIVE, POSITIVE_OTHER),
    "jv": _alike("jv", POSITIVE, POSITIVE_OTHER),
    "hyp2f1": _alike("hyp2f1", POSITIVE, POSITIVE_OTHER, POSITIVE, UNIT),
    "owens_t": _alike("owens_t", VECTOR, UNIT),
    "ndtri_exp": _alike("ndtri_exp", NEGATIVE),
    "sigmoid": _alike("sigmoid", VECTOR, scipy="expit"),
    "softplus": case(tensors("softplus"), lambda np, x: np.logaddexp(0.0, x), VECTOR),
    "log1mexp": case(tensors("log1mexp"), _log1mexp, NEGATIVE),
    "logsumexp": case(
        lambda pt, x: pt.logsumexp(x, axis=1),
        lambda np, x: np.log(np.sum(np.exp(x), axis=1)),
        MATRIX,
    ),
    "softmax": case(
        lambda pt, x: pt.special.softmax(x, axis=1),
        lambda np, x: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True),
        MATRIX,
    ),
    "gammainc_derivative": _derivative("gammainc", POSITIVE, POSITIVE_OTHER),
    "hyp2f1_derivative": _derivative("hyp2f1", POSITIVE, POSITIVE_OTHER, POSITIVE, UNIT),
}
