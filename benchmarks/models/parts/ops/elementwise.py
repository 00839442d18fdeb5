"""Elemwise of scalar Ops that compilers know without a library of special functions."""

from __future__ import annotations

from typing import Any

from benchmarks.models.parts.ops.case import (
    BOOLEANS,
    COMPLEX,
    INTEGERS,
    INTEGERS_OTHER,
    MATRIX,
    NOT_FINITE,
    OTHER,
    POSITIVE,
    ROUGH,
    ROW,
    SINGLE,
    VECTOR,
    Case,
    Cases,
    Input,
    case,
    numpys,
    tensors,
)

_PARTLY_EQUAL = Input(lambda np: np.array([7, 3, 4, 1, 8]))


def _alike(name: str, *inputs: Input, numpy: str = "") -> Case:
    """Return the case of a function that has one name in PyTensor and, by default, in NumPy."""
    return case(tensors(name), numpys(numpy or name), *inputs)


def _polynomial(_: Any, x: Any, y: Any) -> Any:
    """Several Ops, which are fused into one."""
    return (x * y + 2.0) * (x - y) + x**3


CASES: Cases = {
    "add": case(lambda _, x, y: x + y, lambda _, x, y: x + y, VECTOR, OTHER),
    "true_div": case(lambda _, x, y: x / y, lambda _, x, y: x / y, VECTOR, OTHER),
    "int_div": case(
        lambda _, x, y: x // y, lambda _, x, y: x // y, INTEGERS, INTEGERS_OTHER
    ),
    "mod": case(lambda _, x, y: x % y, lambda _, x, y: x % y, INTEGERS, INTEGERS_OTHER),
    "pow": case(lambda _, x, y: x**y, lambda _, x, y: x**y, POSITIVE, OTHER),
    "maximum": _alike("maximum", VECTOR, OTHER),
    "arctan2": _alike("arctan2", VECTOR, OTHER),
    "clip": case(
        lambda pt, x: pt.clip(x, -1.0, 2.0), lambda np, x: np.clip(x, -1.0, 2.0), VECTOR
    ),
    "switch": case(
        lambda pt, c, x, y: pt.switch(c, x, y),
        lambda np, c, x, y: np.where(c, x, y),
        BOOLEANS, VECTOR, OTHER,
    ),
    "second": case(
        lambda pt, x, y: pt.second(x, y), lambda np, x, y: np.broadcast_to(y, x.shape), MATRIX, ROW
    ),
    "abs": _alike("abs", VECTOR),
    "sign": _alike("sign", VECTOR),
    "sqrt": _alike("sqrt", POSITIVE),
    "round": _alike("round", VECTOR),
    "exp": _alike("exp", VECTOR),
    "log1p": _alike("log1p", POSITIVE),
    "sin": _alike("sin", VECTOR),
    "eq": case(lambda pt, x, y: pt.eq(x, y), lambda _, x, y: x == y, INTEGERS, _PARTLY_EQUAL),
    "isnan": _alike("isnan", NOT_FINITE),
    "and": case(lambda _, x, y: x & y, lambda _, x, y: x & y, INTEGERS, INTEGERS_OTHER),
    "invert": case(lambda _, x: ~x, lambda _, x: ~x, BOOLEANS),
    "cast_int8": case(
        lambda pt, x: pt.cast(x, "int8"), lambda _, x: x.astype("int8"), VECTOR
    ),
    "float32_mul": case(lambda _, x: x * x, lambda _, x: x * x, SINGLE, limit=ROUGH),
    "complex_conj": case(lambda pt, x: pt.conj(x), lambda np, x: np.conj(x), COMPLEX),
    "broadcast": case(lambda _, x, y: x * y, lambda _, x, y: x * y, MATRIX, ROW),
    "composite": case(_polynomial, _polynomial, VECTOR, OTHER),
}  # fmt: skip
