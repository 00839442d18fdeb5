"""All pairs of the model `keys` by name."""

from __future__ import annotations

from collections.abc import Mapping

from . import (
    alike,
    arithmetic,
    classes,
    constants,
    described,
    draws,
    edges,
    flags,
    indexing,
    inner,
    linear,
    modules,
    named,
    printed,
    scattered,
    shapes,
    unkeyed,
    versions,
)
from .pair import OF_NUMBA, Pair

_TOPICS = (
    edges, constants, inner, flags, arithmetic, shapes, indexing, linear, draws, scattered, named,
    alike, versions, classes, unkeyed, modules, printed,
)  # fmt: skip

PAIRS: Mapping[str, Pair] = {
    name: pair
    for pairs in (*(topic.PAIRS for topic in _TOPICS), described.kept())
    for name, pair in pairs.items()
}
"""Those that are written down, and then the counterexamples that `observatory explore` filed."""
EQUAL = tuple(name for name, pair in PAIRS.items() if pair.equal)
NOT_OF_NUMBA = tuple(
    name for name, pair in PAIRS.items() if pair.linkers and not {*OF_NUMBA} & {*pair.linkers}
)
"""Those for other linkers than numba's."""
