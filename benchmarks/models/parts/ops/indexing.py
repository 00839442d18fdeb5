"""Taking entries by slices, integers and booleans, and setting or increasing them."""

from __future__ import annotations

from typing import Any

from .case import (
    BOOLEANS,
    COUNT,
    INDICES,
    INDICES_OTHER,
    MASK,
    MATRIX,
    OTHER,
    RIGHT,
    SCALAR,
    TENSOR,
    TWO,
    VECTOR,
    Case,
    Cases,
    Input,
    case,
)


def _taken(index: Any, *inputs: Input) -> Case:
    """Return the case of what stands in one index of the first input.

    ``index`` is the index, or a function of the other inputs that returns it.
    """

    def take(_: Any, x: Any, *others: Any) -> Any:
        return x[index(*others) if callable(index) else index]

    return case(take, take, *inputs)


def _changed(index: Any, *inputs: Input, add: bool = False) -> Case:
    """Return the case of the first input with the second set, or added, in an index."""

    def build(pt: Any, x: Any, y: Any, *others: Any) -> Any:
        change = pt.inc_subtensor if add else pt.set_subtensor
        return change(x[index(*others) if callable(index) else index], y)

    def expected(np: Any, x: Any, y: Any, *others: Any) -> Any:
        changed = x.copy()
        where = index(*others) if callable(index) else index
        if add:
            np.add.at(changed, where, y)
        else:
            changed[where] = y
        return changed

    return case(build, expected, *inputs)


CASES: Cases = {
    "slice": _taken(slice(1, 4), VECTOR),
    "slice_backwards": _taken(slice(None, None, -2), VECTOR),
    "slice_symbolic": _taken(lambda n: slice(None, n), OTHER, COUNT),
    "scalar_symbolic": _taken(lambda n: n, VECTOR, COUNT),
    "row": _taken(lambda n: n, MATRIX, TWO),
    "integers": _taken(lambda i: i, VECTOR, INDICES),
    "integers_columns": _taken(lambda i: (slice(None), i), MATRIX, INDICES),
    "integers_outer": _taken(lambda i, j: (i[:, None], j), MATRIX, INDICES, INDICES_OTHER),
    "integers_around_slice": _taken(
        lambda n, m: (n, slice(None), m), TENSOR, Input(lambda np: np.array([1, 0, 1])),
        Input(lambda np: np.array([3, 1, 1])),
    ),
    "boolean": _taken(lambda b: b, VECTOR, BOOLEANS),
    "take_along_axis": case(
        lambda pt, x: pt.take_along_axis(x, pt.argsort(-x, axis=1), axis=1),
        lambda np, x: np.take_along_axis(x, np.argsort(-x, axis=1), axis=1),
        MATRIX,
    ),
    "nonzero": case(
        lambda _, x: list(x.nonzero()), lambda _, x: tuple(x.nonzero()), MASK
    ),
    "set_slice": _changed(slice(1, 3), VECTOR, SCALAR),
    "set_row": _changed(lambda n: n, MATRIX, OTHER, TWO),
    "set_integers": _changed(lambda i: i, VECTOR, RIGHT, INDICES_OTHER),
    "set_boolean": _changed(lambda b: b, VECTOR, SCALAR, BOOLEANS),
    "inc_slice": _changed(slice(None, None, 2), VECTOR, SCALAR, add=True),
    "inc_integers": _changed(lambda i: i, VECTOR, RIGHT, INDICES, add=True),
    "inc_integers_both": _changed(
        lambda i, j: (i, j), MATRIX, RIGHT, INDICES, INDICES_OTHER, add=True
    ),
}  # fmt: skip
