"""Joining arrays, and splitting them."""

from __future__ import annotations

from .case import (
    INTEGERS,
    MATRIX,
    OTHER,
    STACK_OF_VECTORS,
    TWO,
    VECTOR,
    Cases,
    case,
)

CASES: Cases = {
    "vectors": case(
        lambda pt, x, y: pt.join(0, x, y), lambda np, x, y: np.concatenate([x, y]), VECTOR, OTHER
    ),
    "columns": case(
        lambda pt, x: pt.concatenate([x, x * 2.0], axis=1),
        lambda np, x: np.concatenate([x, x * 2.0], axis=1),
        STACK_OF_VECTORS,
    ),
    "dtypes": case(
        lambda pt, x, y: pt.join(0, x, y), lambda np, x, y: np.concatenate([x, y]), INTEGERS, OTHER
    ),
    "split": case(
        lambda pt, x: pt.split(x, [1, 4], n_splits=2),
        lambda np, x: tuple(np.split(x, [1])),
        VECTOR,
    ),
    "split_symbolic": case(
        lambda pt, x, n: pt.split(x, pt.stack([n, 5 - n]), n_splits=2, axis=1),
        lambda np, x, n: tuple(np.split(x, [int(n)], axis=1)),
        MATRIX, TWO,
    ),
}  # fmt: skip
