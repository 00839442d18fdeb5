"""Scan: maps, recurrences, and loops that end early."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .case import COUNT, MATRIX, OTHER, SCALAR, VECTOR, Cases, case


def scan(*arguments: Any, **options: Any) -> Any:
    """Return the outputs of a Scan in every release."""
    import pytensor

    found = pytensor.scan(*arguments, **options)
    # (outputs, updates) for long; outputs alone where return_updates=False became the rule.
    pair = isinstance(found, tuple | list) and len(found) == 2 and isinstance(found[1], dict)
    return found[0] if pair else found


def _map(pt: Any, x: Any, y: Any) -> Any:
    return scan(lambda one, other: pt.exp(-one) * other, sequences=[x, y])


def recurrence(pt: Any, x: Any) -> Any:
    """Each value is half of the one before it, and an item of ``x``."""
    return scan(
        lambda one, before: 0.5 * before + one,
        sequences=[x],
        outputs_info=[pt.constant(1.0, dtype="float64")],
    )


def _right_recurrence(np: Any, x: Any) -> Any:
    found = [1.0]
    for one in x:
        found.append(0.5 * found[-1] + one)
    return np.array(found[1:])


def _last(pt: Any, a: Any, n: Any) -> Any:
    """Only the last of a symbolic number of steps is asked for."""
    found = scan(
        lambda before, a: pt.tanh(a[:, :4] @ before),
        outputs_info=[pt.ones(4)],
        non_sequences=[a],
        n_steps=n + 4,
    )
    return found[-1]


def _right_last(np: Any, a: Any, n: Any) -> Any:
    found = np.ones(4)
    for _ in range(n + 4):
        found = np.tanh(a[:, :4] @ found)
    return found


def _taps(_: Any, x: Any, y: Any) -> Any:
    """A sequence and an output of which several earlier values are used."""
    return scan(
        lambda one, next_one, before, earlier: before - 0.25 * earlier + one * next_one,
        sequences=[{"input": x, "taps": [0, 1]}],
        outputs_info=[{"initial": y[:2], "taps": [-1, -2]}],
    )


def _right_taps(np: Any, x: Any, y: Any) -> Any:
    found = [y[0], y[1]]
    for one, next_one in pairwise(x):
        found.append(found[-1] - 0.25 * found[-2] + one * next_one)
    return np.array(found[2:])


def _until(_: Any, x: Any) -> Any:
    from pytensor.scan.utils import until

    return scan(lambda before: (before * 1.5, until(before > 10.0)), outputs_info=[x], n_steps=50)


def _right_until(np: Any, x: Any) -> Any:
    found = [x]
    while True:
        found.append(found[-1] * 1.5)
        if found[-2] > 10.0:
            return np.array(found[1:])


def _two_outputs(pt: Any, x: Any) -> Any:
    return scan(
        lambda one, total, product: (total + one, product * pt.cos(one)),
        sequences=[x],
        outputs_info=[pt.constant(0.5, dtype="float64"), pt.constant(2.0, dtype="float64")],
    )


def _right_two_outputs(np: Any, x: Any) -> Any:
    return 0.5 + np.cumsum(x), 2.0 * np.cumprod(np.cos(x))


def _nested(pt: Any, a: Any) -> Any:
    def inner(row: Any) -> Any:
        return scan(
            lambda one, before: 0.5 * before + pt.sin(one),
            sequences=[row],
            outputs_info=[pt.constant(0.0, dtype="float64")],
        )[-1]

    return scan(inner, sequences=[a])


def _right_nested(np: Any, a: Any) -> Any:
    found = np.zeros(len(a))
    for column in np.sin(a).T:
        found = 0.5 * found + column
    return found


CASES: Cases = {
    "map": case(_map, lambda np, x, y: np.exp(-x) * y, VECTOR, OTHER),
    "recurrence": case(recurrence, _right_recurrence, VECTOR),
    "last": case(_last, _right_last, MATRIX, COUNT),
    "taps": case(_taps, _right_taps, VECTOR, OTHER),
    "until": case(_until, _right_until, SCALAR),
    "two_outputs": case(_two_outputs, _right_two_outputs, OTHER),
    "nested": case(_nested, _right_nested, MATRIX),
}
