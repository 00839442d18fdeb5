"""What is known of a variable: shapes and kinds of dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from observatory.benchmarks.described import Source

UNKNOWN_ONE = -1
"""A length of 1 that the type may not know: such a dimension is not broadcast."""
FLOATS, INTEGERS = ("float64", "float32"), ("int64", "int32")
KINDS = {**dict.fromkeys(FLOATS, "f"), **dict.fromkeys(INTEGERS, "i"), "bool": "b"}
"""The kinds of dtypes: floats, integers and bools."""


@dataclass(frozen=True)
class Shape:
    """What is known of a variable: its lengths, and whether it has floats, integers or bools."""

    lengths: tuple[int, ...]
    kind: str
    """"f", "i" or "b"."""

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.lengths)

    @property
    def size(self) -> tuple[int, ...]:
        """The lengths, whether they are known or not."""
        return tuple(map(abs, self.lengths))


Result: TypeAlias = Shape | None
"""What an operation returns; None: it takes no such operands or settings."""
Settings: TypeAlias = dict[str, str]
"""The settings of a node."""


def shape_of(source: Source) -> Shape:
    """Return what is known of a source."""
    lengths = tuple(
        length if length != 1 or source.constant or known == 1 else UNKNOWN_ONE
        for length, known in zip(
            source.shape, source.known or (None,) * len(source.shape), strict=True
        )
    )
    return Shape(lengths, KINDS[source.dtype])


def broadcast(operands: Sequence[Shape]) -> tuple[int, ...] | None:
    """Return the lengths of an elementwise result; None if they do not fit."""
    ndim = max(one.ndim for one in operands)
    padded = [(1,) * (ndim - one.ndim) + one.lengths for one in operands]
    found = []
    for lengths in zip(*padded, strict=True):
        others = {length for length in lengths if length != 1}
        if len(others) > 1:
            return None
        found.append(others.pop() if others else 1)
    return tuple(found)
