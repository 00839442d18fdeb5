"""Pairs of one graph that is compiled with two values of one of PyTensor's flags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft
from .pair import OF_C, OF_NUMBA, Pair, Side


def _contracted(d: Draft) -> Any:
    """A product whose rounding error is lost, unless product and difference are contracted."""
    import numpy as np

    x = np.array([0.1, 0.3, 0.7, 1.1, 1.3])
    y = x[::-1] / 3.0
    error = d.input(x) * d.input(y) - d.input(x * y)
    return d.pt.exp(error * d.input(2.0**53))


def _reduced(d: Draft) -> Any:
    """The same inside a reduction: it is a function of its own with a key of its own."""
    return _contracted(d).sum()


def _not_a_number(d: Draft) -> Any:
    """A compiler that may assume finite numbers finds none that is not."""
    return d.pt.isnan(d.input([1.0, float("nan"), 2.0]) * d.input(2.0))


def _other_default_dtype(d: Draft) -> Any:
    """A graph of its own: else its two sides were in the cache, in whatever order."""
    return _default_dtype(d)[::-1]


def _default_dtype(d: Draft) -> Any:
    import numpy as np
    from pytensor import config

    value = np.array([0.75, -1.5, 2.25], dtype=config.floatX)
    return d.pt.cumsum(d.given(d.pt.vector("x"), value)) + 1.0 / 3.0


def _quotient(d: Draft) -> Any:
    """Its dtype depends on the policy."""
    return d.pt.true_div(d.input([1, 2, 5], "int8"), d.input([4, 4, 4], "int8"))


def _flagged(build: Any, flag: str, first: Any, second: Any, linkers: tuple[str, ...] = ()) -> Pair:
    return Pair(
        Side(build, {flag: first}, checked=not linkers),
        Side(build, {flag: second}),
        linkers=linkers,
    )


PAIRS: Mapping[str, Pair] = {
    "differ.flags.fastmath": _flagged(_contracted, "numba__fastmath", True, False, OF_NUMBA),
    "differ.flags.fastmath_reduced": _flagged(_reduced, "numba__fastmath", True, False, OF_NUMBA),
    "differ.flags.cxxflags": _flagged(
        _not_a_number, "gcc__cxxflags", "-ffinite-math-only -fno-inline", "-fno-inline", OF_C
    ),
    "differ.flags.floatX": _flagged(_default_dtype, "floatX", "float64", "float32"),
    "differ.flags.floatX_reversed": _flagged(_other_default_dtype, "floatX", "float32", "float64"),
    "differ.flags.floatX_quotient": _flagged(_quotient, "floatX", "float64", "float32"),
}
