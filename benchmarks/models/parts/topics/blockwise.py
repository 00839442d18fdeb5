"""Blockwise: a batch against a loop and against one operand, and what the rewrites remove."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..ops.case import (
    LOWER,
    MATRIX,
    RIGHT,
    SPD,
    STACK,
    STACK_OF_VECTORS,
    TENSOR,
    TENSOR_OTHER,
    Case,
    Cases,
    Input,
)
from .topic import BLOCKWISE, topic

_ONE = Input(lambda np: SPD.make(np)[None], shape=(1, None, None))
_ONE_LOWER = Input(lambda np: LOWER.make(np)[None], shape=(1, None, None))
_LOWERS = Input(lambda np: np.linalg.cholesky(STACK.make(np)))


def _each(apply: Callable[..., Any]) -> Callable[..., Any]:
    """``apply`` takes pytensor.tensor or numpy and operands without a batch; three of them here."""

    def looped(library: Any, *stacks: Any) -> Any:
        return library.stack([apply(library, *(one[i] for one in stacks)) for i in range(3)])

    return looped


def _ways(
    apply: Callable[..., Any], right: Callable[..., Any], *inputs: tuple[Input, Input, Input]
) -> Iterator[tuple[str, Case]]:
    """A batch, a loop over it, one operand, and a batch of one that its type knows to be one.

    ``inputs``: for each operand a stack of three, one alone, and a stack of one.
    """
    stacks, alone, useless = zip(*inputs, strict=True)
    yield "batched", topic(apply, _each(right), *stacks, tells=BLOCKWISE)
    yield "loop", topic(_each(apply), _each(right), *stacks, tells=BLOCKWISE)
    yield "one", topic(apply, right, *alone, tells=BLOCKWISE)
    yield (
        "useless",
        topic(
            apply,
            lambda np, *x: right(np, *(one[0] for one in x))[None],
            *useless,
            tells=BLOCKWISE,
        ),
    )


def _triangular(pt: Any, a: Any, b: Any) -> Any:
    return pt.linalg.solve_triangular(a, b, lower=True, b_ndim=1)


def _gradient(pt: Any, a: Any) -> Any:
    return pt.grad(pt.linalg.cholesky(a).sum(), a)


def _right_gradient(np: Any, a: Any) -> Any:
    """By differences of the sum of the lower factor, of which only the lower half is read."""
    step, found = 1e-6, np.zeros_like(a)
    for place in zip(*np.tril_indices(4), strict=True):
        sums = []
        for sign in (1, -1):
            moved = a.copy()
            moved[place] += sign * step
            symmetric = np.tril(moved) + np.tril(moved, -1).T
            sums.append(np.linalg.cholesky(symmetric).sum())
        found[place] = (sums[0] - sums[1]) / (2 * step)
    return found


CASES: Cases = {
    **{
        f"cholesky.{name}": one
        for name, one in _ways(
            lambda pt, a: pt.linalg.cholesky(a),
            lambda np, a: np.linalg.cholesky(a),
            (STACK, SPD, _ONE),
        )
    },
    **{
        f"solve_triangular.{name}": one
        for name, one in _ways(
            _triangular,
            lambda np, a, b: np.linalg.solve(a, b),
            (_LOWERS, LOWER, _ONE_LOWER),
            (STACK_OF_VECTORS, RIGHT, Input(lambda np: RIGHT.make(np)[None], shape=(1, None))),
        )
    },
    "cholesky.gradient": topic(
        _gradient,
        _each(_right_gradient),
        STACK,
        tells=BLOCKWISE,
        limit=1e-5,
    ),
    "matmul.batched": topic(
        lambda pt, a, b: a @ b, lambda np, a, b: a @ b, TENSOR, TENSOR_OTHER, tells=BLOCKWISE
    ),
    "matmul.loop": topic(
        lambda pt, a, b: pt.stack([a[i] @ b[i] for i in range(2)]),
        lambda np, a, b: a @ b,
        TENSOR,
        TENSOR_OTHER,
        tells=BLOCKWISE,
    ),
    "matmul.one_operand": topic(
        # A batch times one matrix is one product of matrices.
        lambda pt, a, b: a @ b,
        lambda np, a, b: a @ b,
        TENSOR,
        MATRIX,
        tells=BLOCKWISE,
    ),
}
