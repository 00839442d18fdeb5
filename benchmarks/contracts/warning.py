"""Contracts about the texts of numba's warnings, by which PyTensor filters them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from benchmarks.contracts import making
from benchmarks.contracts.contract import Area, Unavailable, need, promised

AREA = Area("warnings")


def _basic() -> Any:
    """PyTensor's module with the filter; raises Unavailable if it has none."""
    making.cache_module()
    from pytensor.link.numba.dispatch import basic

    if not hasattr(basic, "_filter_numba_warnings"):
        raise Unavailable("this PyTensor filters warnings where it compiles, if at all")
    return basic


def _let_through(basic: Any, told: Iterable[warnings.WarningMessage]) -> list[str]:
    """The warnings that pass PyTensor's filter."""
    with warnings.catch_warnings(record=True) as passed:
        warnings.resetwarnings()
        warnings.simplefilter("always")
        basic._filter_numba_warnings()
        for one in told:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return [" ".join(str(one.message).split())[:300] for one in passed]


def _warned(function: Any, *arguments: Any, **options: Any) -> list[warnings.WarningMessage]:
    import numba

    with warnings.catch_warnings(record=True) as told:
        warnings.resetwarnings()
        warnings.simplefilter("always")
        with promised("numba compiles what it warns of"):
            numba.njit(function, **options)(*arguments)
    return [one for one in told if issubclass(one.category, numba.NumbaWarning)]


@AREA.contract(
    "refusals_filtered",
    "numba's warning about what it does not store has the text that PyTensor filters",
    "every user would see a warning for each outer graph with a large constant",
)
def _refusals() -> str:
    basic = _basic()
    graph = _warned(making.pointing("numba_funcified_fgraph", "quiet"), -3, cache=True)
    other = _warned(making.pointing("some_function", "loud"), -3, cache=True)
    need(graph and other, "numba no longer warns about what it does not store")
    through = _let_through(basic, graph)
    need(not through, f"PyTensor's filter lets through: {' '.join(through)}")
    need(_let_through(basic, other), "PyTensor's filter keeps back what it is not meant for")
    return "kept back for an outer graph, let through for others"


@AREA.contract(
    "products_filtered",
    "numba's warning about products of strided arrays has the text that PyTensor filters",
    "every user would see a warning for each graph with such a product",
)
def _strided_products() -> str:
    import numpy as np

    basic = _basic()
    strided = np.ones((4, 4))[::2, ::2]
    # Only this spelling is filtered by every PyTensor that filters.
    product = making.function("def product(x, y): return np.dot(x, y)", np=np)
    told = _warned(product, strided, strided)
    need(told, "numba no longer warns about strided products")
    through = _let_through(basic, told)
    need(not through, f"PyTensor's filter lets through: {' '.join(through)}")
    return "kept back"
