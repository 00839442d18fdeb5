"""Sorting, searching and counting."""

from __future__ import annotations

from .case import INDICES, MATRIX, OTHER, VECTOR, Cases, Input, case

_REPEATED = Input(lambda np: np.array([3, 1, 1, 7, 3, 3, -2]))

CASES: Cases = {
    "sort": case(lambda pt, x: pt.sort(x), lambda np, x: np.sort(x), VECTOR),
    "sort_axis": case(lambda pt, x: pt.sort(x, axis=0), lambda np, x: np.sort(x, axis=0), MATRIX),
    "argsort": case(lambda pt, x: pt.argsort(x), lambda np, x: np.argsort(x), VECTOR),
    "searchsorted": case(
        lambda pt, x, y: pt.searchsorted(pt.sort(x), y),
        lambda np, x, y: np.searchsorted(np.sort(x), y),
        VECTOR, OTHER,
    ),
    "unique": case(lambda pt, x: pt.unique(x), lambda np, x: np.unique(x), _REPEATED),
    "unique_counts": case(
        lambda pt, x: pt.unique(x, return_index=True, return_inverse=True, return_counts=True),
        lambda np, x: np.unique(x, return_index=True, return_inverse=True, return_counts=True),
        _REPEATED,
    ),
    "bincount": case(lambda pt, x: pt.bincount(x), lambda np, x: np.bincount(x), INDICES),
}  # fmt: skip
