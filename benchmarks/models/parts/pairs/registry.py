"""All pairs of the model `keys` by name."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.models.parts.pairs import (
    alike,
    arithmetic,
    constants,
    draws,
    edges,
    flags,
    indexing,
    inner,
    linear,
    named,
    scattered,
    shapes,
)
from benchmarks.models.parts.pairs.pair import Pair

_TOPICS = (
    edges, constants, inner, flags, arithmetic, shapes, indexing, linear, draws, scattered, named,
    alike,
)  # fmt: skip

PAIRS: Mapping[str, Pair] = {name: pair for topic in _TOPICS for name, pair in topic.PAIRS.items()}
EQUAL = tuple(name for name, pair in PAIRS.items() if pair.equal)
