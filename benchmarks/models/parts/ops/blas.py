"""Products of vectors, matrices and stacks of them."""

from __future__ import annotations

from .case import (
    MATRIX,
    OTHER,
    RIGHT,
    RIGHTS,
    SHORT,
    STACK_OF_VECTORS,
    TENSOR,
    TENSOR_OTHER,
    VECTOR,
    Cases,
    case,
)

CASES: Cases = {
    "dot_vectors": case(lambda pt, x, y: pt.dot(x, y), lambda _, x, y: x @ y, VECTOR, OTHER),
    "dot_matrix_vector": case(lambda pt, a, x: pt.dot(a, x), lambda _, a, x: a @ x, MATRIX, VECTOR),
    "dot_matrices": case(
        lambda pt, a, b: pt.dot(a, b), lambda _, a, b: a @ b, STACK_OF_VECTORS, MATRIX
    ),
    "gemv": case(
        lambda pt, y, a, x: 0.5 * y + 1.5 * pt.dot(a, x),
        lambda _, y, a, x: 0.5 * y + 1.5 * (a @ x),
        RIGHT, MATRIX, VECTOR,
    ),
    "ger": case(
        lambda pt, a, x, y: a + 2.0 * pt.outer(x, y),
        lambda np, a, x, y: a + 2.0 * np.outer(x, y),
        MATRIX, RIGHT, OTHER,
    ),
    "gemm": case(
        lambda pt, c, a, b: 0.5 * c + 2.0 * pt.dot(a, b),
        lambda _, c, a, b: 0.5 * c + 2.0 * (a @ b),
        MATRIX, RIGHTS, SHORT,
    ),
    "batched_dot": case(
        lambda pt, a, b: pt.matmul(a, b), lambda _, a, b: a @ b, TENSOR, TENSOR_OTHER
    ),
    "tensordot": case(
        lambda pt, a, b: pt.tensordot(a, b, axes=[[2], [0]]),
        lambda np, a, b: np.tensordot(a, b, axes=[[2], [0]]),
        TENSOR, MATRIX,
    ),
    "einsum": case(
        lambda pt, a, b: pt.einsum("aij,ajk->ik", a, b),
        lambda np, a, b: np.einsum("aij,ajk->ik", a, b),
        TENSOR, TENSOR_OTHER,
    ),
    "outer": case(lambda pt, x, y: pt.outer(x, y), lambda np, x, y: np.outer(x, y), VECTOR, RIGHT),
}  # fmt: skip
