"""Elemwise of special functions: PyTensor calls SciPy's through pointers, or has its own code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .case import (
    MATRIX,
    NEGATIVE,
    OTHER,
    POSITIVE,
    POSITIVE_OTHER,
    ROUGH,
    UNIT,
    VECTOR,
    Case,
    Cases,
    Input,
    case,
    numpys,
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
    "erfc": _alike("erfc", VECTOR),
    "erfcinv": _alike("erfcinv", UNIT),
    "erfcx": _alike("erfcx", VECTOR),
    "erfinv": _alike("erfinv", UNIT),
    "gammainc": _alike("gammainc", POSITIVE, POSITIVE_OTHER),
    "gamma": _alike("gamma", POSITIVE),
    "gammaincc": _alike("gammaincc", POSITIVE, POSITIVE_OTHER),
    "gammainccinv": _alike("gammainccinv", POSITIVE, UNIT),
    "gammaincinv": _alike("gammaincinv", POSITIVE, UNIT),
    "betainc": _alike("betainc", POSITIVE, POSITIVE_OTHER, UNIT),
    "betaincinv": _alike("betaincinv", POSITIVE, POSITIVE_OTHER, UNIT),
    "i0": _alike("i0", VECTOR),
    "i1": _alike("i1", VECTOR),
    "j0": _alike("j0", VECTOR),
    "j1": _alike("j1", VECTOR),
    "kve": _alike("kve", POSITIVE, POSITIVE_OTHER),
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
    "log_softmax": case(
        lambda pt, x: pt.special.log_softmax(x, axis=1),
        lambda np, x: x - np.log(np.sum(np.exp(x), axis=1, keepdims=True)),
        MATRIX,
    ),
    "logaddexp": case(tensors("logaddexp"), numpys("logaddexp"), VECTOR, OTHER),
    "logaddexp_derivative": case(
        lambda pt, x, y: pt.grad(pt.logaddexp(x, y).sum(), x),
        lambda np, x, y: 1.0 / (1.0 + np.exp(y - x)),
        VECTOR,
        OTHER,
    ),
    "xlogy": case(
        lambda pt, x, y: pt.special.xlogy(x, y), scipys("special.xlogy"), VECTOR, POSITIVE
    ),
    "xlog1py": case(
        lambda pt, x, y: pt.special.xlog1py(x, y), scipys("special.xlog1py"), VECTOR, POSITIVE
    ),
    "gammainc_derivative": _derivative("gammainc", POSITIVE, POSITIVE_OTHER),
    "hyp2f1_derivative": _derivative("hyp2f1", POSITIVE, POSITIVE_OTHER, POSITIVE, UNIT),
}
