"""Arrays with named dimensions (`xtensor`): rewrites replace their Ops by those of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .case import (
    INDICES,
    MATRIX,
    RIGHT,
    SHORT,
    TENSOR,
    VECTOR,
    Case,
    Cases,
    Input,
    case,
)

_ROWS = ("row", "column")
_PLANES = ("plane", "row", "column")


def _named(
    build: Callable[..., Any],
    expected: Callable[..., Any],
    *inputs: tuple[Input, tuple[str, ...]],
) -> Case:
    """Return the case of a function of `pytensor.xtensor` and of arrays with these dimensions."""

    def built(_: Any, *symbols: Any) -> Any:
        from pytensor import xtensor

        named = [
            xtensor.as_xtensor(symbol, dims=dims)
            for symbol, (_, dims) in zip(symbols, inputs, strict=True)
        ]
        return build(xtensor, *named).values

    return case(built, expected, *(one for one, _ in inputs))


def _replaced(_: Any, x: Any, y: Any) -> Any:
    return x.isel(row=1).set(y)


def _with_row(_: Any, x: Any, y: Any) -> Any:
    changed = x.copy()
    changed[1] = y
    return changed


CASES: Cases = {
    "exp": _named(lambda xt, x: xt.math.exp(x), lambda np, x: np.exp(x), (MATRIX, _ROWS)),
    "add": _named(
        lambda _, x, y: x + y, lambda _, x, y: x + y, (MATRIX, _ROWS), (VECTOR, ("column",))
    ),
    "rename": _named(
        lambda _, x: (x.rename(row="line") * 2.0).transpose("column", "line"),
        lambda _, x: 2.0 * x.T,
        (MATRIX, _ROWS),
    ),
    "sum": _named(
        lambda _, x: (x * x).sum("row"), lambda _, x: (x * x).sum(axis=0), (MATRIX, _ROWS)
    ),
    "cumsum": _named(
        lambda _, x: x.cumsum("column"), lambda np, x: np.cumsum(x, axis=1), (MATRIX, _ROWS)
    ),
    "dot": _named(
        lambda _, x, y: x.dot(y, dim="column"),
        lambda _, x, y: x @ y.T,
        (MATRIX, _ROWS), (SHORT, ("line", "column")),
    ),
    "concat": _named(
        lambda xt, x, y: xt.concat([x, y], dim="row"),
        lambda np, x, y: np.concatenate([x, y]),
        (MATRIX, _ROWS), (SHORT, _ROWS),
    ),
    "stack": _named(
        lambda _, x: (x * 2.0).stack({"all": ("row", "column")}),
        lambda _, x: 2.0 * x.reshape((x.shape[0], -1)),
        (TENSOR, _PLANES),
    ),
    "unstack": _named(
        lambda _, x: x.unstack({"row": {"upper": 2, "lower": 2}}),
        lambda _, x: x.T.reshape((-1, 2, 2)),
        (MATRIX, _ROWS),
    ),
    "expand_and_squeeze": _named(
        lambda _, x: x.expand_dims("plane").isel(plane=slice(0, 1)).squeeze("plane"),
        lambda _, x: x,
        (MATRIX, _ROWS),
    ),
    "broadcast": _named(
        lambda xt, x, y: xt.broadcast(x, y)[1].transpose("row", "column"),
        lambda np, x, y: np.broadcast_to(y[:, None], x.shape),
        (MATRIX, _ROWS), (RIGHT, ("row",)),
    ),
    "index": _named(
        lambda _, x, i: x.isel(row=i), lambda _, x, i: x[i], (MATRIX, _ROWS), (INDICES, ("row",))
    ),
    "set_index": _named(_replaced, _with_row, (MATRIX, _ROWS), (VECTOR, ("column",))),
}  # fmt: skip
