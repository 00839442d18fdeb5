"""Making arrays, and changing or asking their shapes."""

from __future__ import annotations

from typing import Any

from .case import (
    COUNT,
    INDICES,
    INTEGERS,
    MATRIX,
    OTHER,
    POSITIVE_OTHER,
    SCALAR,
    SQUARE,
    TENSOR,
    TWO,
    UNIT,
    VECTOR,
    Cases,
    case,
    numpys,
    tensors,
)


def _asserted(_: Any, x: Any) -> Any:
    from pytensor.raise_op import Assert

    return Assert("the sum must be positive")(x, x.sum() > 0.0)


def _checked(_: Any, x: Any) -> Any:
    from pytensor.raise_op import CheckAndRaise

    return CheckAndRaise(ValueError, "the sum must be positive")(x, x.sum() > 0.0)


def _filled_empty(pt: Any, x: Any) -> Any:
    return pt.set_subtensor(pt.empty((x.shape[0], 3))[:], x[:, None])


def _fill_diagonal(np: Any, x: Any, by: float, offset: int = 0) -> Any:
    changed = x.copy()
    rows = np.arange(min(x.shape[0], x.shape[1] - offset))
    changed[rows, rows + offset] = by
    return changed


CASES: Cases = {
    "reshape_symbolic": case(
        lambda _, x, n: x.reshape((n, -1)), lambda _, x, n: x.reshape((n, -1)), TENSOR, COUNT
    ),
    "dimshuffle": case(
        lambda _, x: x.dimshuffle(2, "x", 0, 1),
        lambda _, x: x.transpose(2, 0, 1)[:, None],
        TENSOR,
    ),
    "broadcast_to": case(
        lambda pt, x, n: pt.broadcast_to(x, (n, 5)),
        lambda np, x, n: np.broadcast_to(x, (n, 5)),
        VECTOR, COUNT,
    ),
    "alloc": case(
        lambda pt, x, n: pt.alloc(x, n, 4), lambda np, x, n: np.full((n, 4), x), SCALAR, COUNT
    ),
    "empty": case(
        _filled_empty, lambda np, x: np.repeat(x[:, None], 3, axis=1), OTHER
    ),
    "eye": case(lambda pt, n: pt.eye(n, 4, 1), lambda np, n: np.eye(n, 4, 1), COUNT),
    "arange": case(
        lambda pt, n: pt.arange(n, 20, 4), lambda np, n: np.arange(n, 20, 4), COUNT
    ),
    "bartlett": case(
        lambda pt, n: pt.bartlett(n + 3), lambda np, n: np.bartlett(n + 3), COUNT
    ),
    "repeat": case(
        lambda pt, x, n: pt.repeat(x, n, axis=1),
        lambda np, x, n: np.repeat(x, n, axis=1),
        MATRIX, TWO,
    ),
    "repeat_each": case(
        lambda pt, x, n: pt.repeat(x, n, axis=0),
        lambda np, x, n: np.repeat(x, n, axis=0),
        MATRIX, INDICES,
    ),
    "specify_shape": case(
        lambda pt, x: pt.specify_shape(x, (5,)) * 2.5, lambda _, x: x * 2.5, VECTOR
    ),
    "shape": case(lambda _, x: x.shape, lambda np, x: np.array(x.shape), TENSOR),
    "shape_i": case(lambda _, x: x.shape[1], lambda np, x: np.array(x.shape[1]), MATRIX),
    "assert": case(_asserted, lambda _, x: x, UNIT),
    "check": case(_checked, lambda _, x: x, POSITIVE_OTHER),
    "copy": case(lambda _, x: x, lambda _, x: x, INTEGERS),
    "diag": case(tensors("diag"), numpys("diag"), VECTOR),
    "diagonal": case(
        lambda pt, x: pt.diagonal(x, 1), lambda np, x: np.diagonal(x, 1), MATRIX
    ),
    "fill_diagonal": case(
        lambda pt, x: pt.fill_diagonal(x, 8.5), lambda np, x: _fill_diagonal(np, x, 8.5), SQUARE
    ),
    "fill_diagonal_offset": case(
        lambda pt, x: pt.fill_diagonal_offset(x, 9.5, 1),
        lambda np, x: _fill_diagonal(np, x, 9.5, 1),
        SQUARE,
    ),
    "pad": case(
        lambda pt, x: pt.pad(x, 2, mode="edge"), lambda np, x: np.pad(x, 2, mode="edge"), VECTOR
    ),
    "ravel_multi_index": case(
        lambda pt, i: pt.ravel_multi_index((i, i), (4, 6)),
        lambda np, i: np.ravel_multi_index((i, i), (4, 6)),
        INDICES,
    ),
    "unravel_index": case(
        lambda pt, i: list(pt.unravel_index(i * 5, (4, 6))),
        lambda np, i: np.unravel_index(i * 5, (4, 6)),
        INDICES,
    ),
    "scalar_to_vector": case(
        lambda pt, x, n: pt.stack([x, n * 2.0, x * n]),
        lambda np, x, n: np.stack([x, n * 2.0, x * n]),
        SCALAR, COUNT,
    ),
    "join_dims": case(
        lambda pt, x: pt.join_dims(x, 1, 2), lambda _, x: x.reshape((2, 12)), TENSOR
    ),
    "split_dims": case(
        lambda pt, x: pt.split_dims(x, (2, 2), 0), lambda _, x: x.reshape((2, 2, 5)), MATRIX
    ),
}  # fmt: skip
