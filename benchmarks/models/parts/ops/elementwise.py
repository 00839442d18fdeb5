"""Elemwise of scalar Ops that compilers know without a library of special functions."""

from __future__ import annotations

from typing import Any

from .case import (
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
    UNIT,
    VECTOR,
    Case,
    Cases,
    Input,
    case,
    numpys,
    tensors,
)

_ABOVE_ONE = Input(lambda np: np.array([1.4, 2.7, 1.05, 6.3, 3.8]))
_PARTLY_EQUAL = Input(lambda np: np.array([7, 3, 4, 1, 8]))


def _alike(name: str, *inputs: Input, numpy: str = "") -> Case:
    """Return the case of a function that has one name in PyTensor and, by default, in NumPy."""
    return case(tensors(name), numpys(numpy or name), *inputs)


def _polynomial(_: Any, x: Any, y: Any) -> Any:
    """Several Ops, which are fused into one."""
    return (x * y + 2.0) * (x - y) + x**3


def _of_entries(_: Any, x: Any, y: Any) -> Any:
    """Single entries of arrays, which some releases read as scalars."""
    return (x[1] * y[2] + 3.0) / (x[0] - y[1])


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
    "ceil": _alike("ceil", VECTOR),
    "trunc": _alike("trunc", VECTOR),
    "exp2": _alike("exp2", VECTOR),
    "expm1": _alike("expm1", VECTOR),
    "log2": _alike("log2", POSITIVE),
    "log10": _alike("log10", POSITIVE),
    "tan": _alike("tan", VECTOR),
    "arcsin": _alike("arcsin", UNIT),
    "arccos": _alike("arccos", UNIT),
    "arctan": _alike("arctan", VECTOR),
    "sinh": _alike("sinh", VECTOR),
    "cosh": _alike("cosh", VECTOR),
    "arcsinh": _alike("arcsinh", VECTOR),
    "arccosh": _alike("arccosh", _ABOVE_ONE),
    "arctanh": _alike("arctanh", UNIT),
    "eq": case(lambda pt, x, y: pt.eq(x, y), lambda _, x, y: x == y, INTEGERS, _PARTLY_EQUAL),
    "isnan": _alike("isnan", NOT_FINITE),
    "and": case(lambda _, x, y: x & y, lambda _, x, y: x & y, INTEGERS, INTEGERS_OTHER),
    "neq": case(lambda pt, x, y: pt.neq(x, y), lambda _, x, y: x != y, INTEGERS, _PARTLY_EQUAL),
    "xor": case(lambda _, x, y: x ^ y, lambda _, x, y: x ^ y, INTEGERS, INTEGERS_OTHER),
    "invert": case(lambda _, x: ~x, lambda _, x: ~x, BOOLEANS),
    "cast_int8": case(
        lambda pt, x: pt.cast(x, "int8"), lambda _, x: x.astype("int8"), VECTOR
    ),
    "float32_mul": case(lambda _, x: x * x, lambda _, x: x * x, SINGLE, limit=ROUGH),
    "complex_conj": case(lambda pt, x: pt.conj(x), lambda np, x: np.conj(x), COMPLEX),
    "complex_imag": case(lambda pt, x: pt.imag(x), lambda np, x: np.imag(x), COMPLEX),
    "identity": case(lambda pt, x: pt.tensor_copy(x), lambda _, x: x, VECTOR),
    "of_entries": case(_of_entries, _of_entries, VECTOR, OTHER),
    "broadcast": case(lambda _, x, y: x * y, lambda _, x, y: x * y, MATRIX, ROW),
    "composite": case(_polynomial, _polynomial, VECTOR, OTHER),
}  # fmt: skip
