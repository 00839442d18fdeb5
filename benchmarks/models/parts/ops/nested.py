"""Ops that contain graphs or Ops, and typed lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import NotInThisRelease
from .case import (
    BOOLEANS,
    MATRIX,
    OTHER,
    POSITIVE,
    SCALAR,
    STACK,
    STACK_OF_VECTORS,
    TENSOR,
    VECTOR,
    Case,
    Cases,
    Input,
    case,
)

_YES = Input(lambda np: np.array(True))
_KERNEL = Input(lambda np: np.array([0.5, -1.0, 0.25]))
_LOWER = Input(lambda np: np.linalg.cholesky(STACK.make(np)))


def _from_graph(pt: Any, x: Any, y: Any) -> Any:
    from pytensor.compile.builders import OpFromGraph

    a, b = pt.vector(dtype="float64"), pt.vector(dtype="float64")
    return OpFromGraph([a, b], [pt.exp(-a) * b + 1.0])(x, y)


def _from_graphs(pt: Any, x: Any, y: Any) -> Any:
    """An OpFromGraph in another one, which is used twice."""
    from pytensor.compile.builders import OpFromGraph

    a, b = pt.vector(dtype="float64"), pt.vector(dtype="float64")
    inner = OpFromGraph([a], [pt.cumsum(a)])
    outer = OpFromGraph([a, b], [inner(a) * b, inner(b)])
    found = outer(x, y)
    return [found[0], outer(y, found[1])[0]]


def ifelse(*arguments: Any) -> Any:
    """Return the output of `ifelse`, which moved."""
    try:
        from pytensor.conditional.op import ifelse as made
    except ImportError:
        from pytensor.ifelse import ifelse as made
    return made(*arguments)


def _choice(pt: Any, c: Any, x: Any, y: Any) -> Any:
    return ifelse(c, pt.cumsum(x), pt.exp(y))


def _choices(pt: Any, c: Any, x: Any, y: Any) -> Any:
    return list(ifelse(c.any(), [x * 3.0, pt.sort(y)], [y, x]))


def _choice_of_work(pt: Any, c: Any, a: Any) -> Any:
    """Branches that are dear enough to be compiled as graphs of their own."""
    return ifelse(pt.eq(c, 0.0), pt.linalg.inv(a[0]), pt.linalg.cholesky(a[0] * 4.0) @ a[1])


def _listed(build: Callable[..., Any], expected: Callable[..., Any], *inputs: Input) -> Case:
    """``build`` takes pytensor.typed_list and the inputs; ``expected`` lists instead."""

    def made(_: Any, *x: Any) -> Any:
        import pytensor.typed_list as lists

        return build(lists, *x)

    return case(made, expected, *inputs)


def _vectorized(pt: Any, a: Any, x: Any) -> Any:
    found: Any = pt.vectorize(lambda a, x: pt.cumsum(x)[::-1] * a.sum(), signature="(n,m),(m)->(m)")
    return found(a, x)


def _batched_convolution(_: Any, x: Any, kernel: Any) -> Any:
    from pytensor.tensor.signal import convolve1d

    return convolve1d(x, kernel, mode="full")


def _batched_eigenvalues(pt: Any, a: Any) -> Any:
    try:
        return pt.linalg.eigh(a)[0]
    except AssertionError as error:  # releases that take a matrix only
        raise NotInThisRelease("eigh of a stack of matrices") from error


def _lists() -> Cases:
    return {
        "list_make": _listed(
            lambda tl, x, y: tl.getitem(tl.make_list([x, y, x]), 1) + 0.5,
            lambda _, _x, y: y + 0.5,
            VECTOR, OTHER,
        ),
        "list_append": _listed(
            lambda tl, x, y, z: tl.getitem(tl.append(tl.make_list([x, y]), z), 2),
            lambda _, _x, _y, z: z,
            VECTOR, OTHER, POSITIVE,
        ),
        "list_extend": _listed(
            lambda tl, x, y: tl.getitem(tl.extend(tl.make_list([x]), tl.make_list([x, y])), 2),
            lambda _, _x, y: y,
            VECTOR, OTHER,
        ),
        "list_insert": _listed(
            lambda tl, x, y: tl.getitem(tl.insert(tl.make_list([x, x]), _one(), y), 1) * 1.25,
            lambda _, _x, y: y * 1.25,
            VECTOR, OTHER,
        ),
        "list_remove": _listed(
            lambda tl, x, y: tl.getitem(tl.remove(tl.make_list([x, y]), x), 0) - 2.5,
            lambda _, _x, y: y - 2.5,
            VECTOR, OTHER,
        ),
        "list_reverse": _listed(
            lambda tl, x, y: tl.getitem(tl.reverse(tl.make_list([x, x, y])), 0) * 5.5,
            lambda _, _x, y: y * 5.5,
            VECTOR, OTHER,
        ),
        "list_length": _listed(
            lambda tl, x, y: tl.length(tl.make_list([x, y, x, y])),
            lambda np, *_: np.array(4),
            VECTOR, OTHER,
        ),
        "list_count": _listed(
            lambda tl, x, y: tl.count(tl.make_list([x, y, x, x, y]), x).astype("int64"),
            lambda np, *_: np.array(3),
            VECTOR, OTHER,
        ),
        "list_index": _listed(
            lambda tl, x, y: tl.index_(tl.make_list([x, x, y]), y).astype("int64"),
            lambda np, *_: np.array(2),
            VECTOR, OTHER,
        ),
    }  # fmt: skip


def _one() -> Any:
    import pytensor.tensor as pt

    return pt.constant(1, dtype="int64")


_GRAPHS: Cases = {
    "op_from_graph": case(
        _from_graph, lambda np, x, y: np.exp(-x) * y + 1.0, VECTOR, OTHER
    ),
    "op_from_graph_nested": case(
        _from_graphs,
        lambda np, x, y: (np.cumsum(x) * y, np.cumsum(y) ** 2),
        VECTOR, OTHER,
    ),
    "ifelse": case(_choice, lambda np, _, x, y: np.cumsum(x) + 0.0 * y, _YES, OTHER, VECTOR),
    "ifelse_two": case(
        _choices, lambda np, _, x, y: (x * 3.0, np.sort(y)), BOOLEANS, VECTOR, OTHER
    ),
    "ifelse_lazy": case(
        _choice_of_work, lambda np, _, a: np.linalg.cholesky(a[0] * 4.0) @ a[1], SCALAR, STACK
    ),
}  # fmt: skip

_BLOCKWISE: Cases = {
    "blockwise_cholesky": case(
        lambda pt, a: pt.linalg.cholesky(a), lambda np, a: np.linalg.cholesky(a), STACK
    ),
    "blockwise_solve": case(
        lambda pt, a, b: pt.linalg.solve(a, b, b_ndim=1),
        lambda np, a, b: np.linalg.solve(a, b[..., None])[..., 0],
        STACK, STACK_OF_VECTORS,
    ),
    "blockwise_solve_triangular": case(
        lambda pt, a, b: pt.linalg.solve_triangular(a, b, lower=True, b_ndim=1),
        lambda np, a, b: np.linalg.solve(a, b[..., None])[..., 0],
        _LOWER, STACK_OF_VECTORS,
    ),
    "blockwise_svd": case(
        lambda pt, a: pt.linalg.svd(a, compute_uv=False),
        lambda np, a: np.linalg.svd(a, compute_uv=False),
        TENSOR,
    ),
    "blockwise_eigh": case(
        _batched_eigenvalues, lambda np, a: np.linalg.eigvalsh(a), STACK
    ),
    "blockwise_qr": case(
        lambda pt, a: abs(pt.linalg.qr(a, mode="r")),
        lambda np, a: np.abs(np.linalg.qr(a, mode="r")),
        STACK,
    ),
    "blockwise_vectorize": case(
        _vectorized,
        lambda np, a, x: np.cumsum(x, axis=-1)[:, ::-1] * a.sum(axis=(1, 2))[:, None],
        Input(lambda np: STACK.make(np) + 0.5), STACK_OF_VECTORS,
    ),
    "blockwise_convolve1d": case(
        _batched_convolution,
        lambda np, x, k: np.stack([np.convolve(one, k) for one in x]),
        MATRIX, _KERNEL,
    ),
}  # fmt: skip

CASES: Cases = {**_GRAPHS, **_lists(), **_BLOCKWISE}
