"""Small graphs as data: the tool generates them, and the environment under test builds them.

A graph is a list of sources, which are inputs and constants, and a list of nodes, each an operation
of `benchmarks.models.parts.pairs.described` with its operands. Numbers and settings are texts, so
that -0.0, nan and the last bit of a number survive in JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .typed_json import from_json

Treatment = Literal["", "again", "names", "order", "pickled", "cloned"]
"""How the second graph of a pair is made of the first one, where both are equal: once more, with
other names of variables, in another order, by way of pickle, or as a clone. Empty: it differs."""
TREATMENTS: tuple[Treatment, ...] = ("again", "names", "order", "pickled", "cloned")


@dataclass(frozen=True)
class Source:
    """An input with its value, or a constant."""

    dtype: str
    shape: tuple[int, ...]
    numbers: tuple[str, ...]
    """The elements, in C order."""
    known: tuple[int | None, ...] = ()
    """The lengths that the type of an input knows; None: it does not know this one."""
    constant: bool = False


@dataclass(frozen=True)
class Node:
    """One operation. Operands are counted over all sources, and then over all nodes."""

    op: str
    operands: tuple[int, ...]
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DescribedGraph:
    """One graph."""

    sources: tuple[Source, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    """Counted like operands."""


@dataclass(frozen=True)
class DescribedPair:
    """Two graphs that differ in one place, or that are equal."""

    first: DescribedGraph
    second: DescribedGraph
    kind: str
    """What they differ in, in one word; of equal graphs the treatment."""
    treatment: Treatment = ""

    @property
    def equal(self) -> bool:
        """Whether a cache must give both the same functions."""
        return bool(self.treatment)


@dataclass(frozen=True)
class DescribedPairs:
    """A file of pairs by name."""

    pairs: dict[str, DescribedPair]


@dataclass(frozen=True)
class KeptPair:
    """A counterexample that is kept for ever, with where it was found."""

    pair: DescribedPair
    finding: str
    """`collided`, `unstable`, `wrong`, `raised` or `died`."""
    subject: str
    backend: str
    seed: int
    note: str
    """What happened, in the words of the sample."""


def read_pairs(path: Path) -> dict[str, DescribedPair]:
    """Return the pairs of a file by name. Raises OSError, and MessageError for other contents."""
    return from_json(DescribedPairs, path.read_text(encoding="utf-8")).pairs


def read_kept(path: Path) -> KeptPair:
    """Return the pair of a kept file. Raises OSError, and MessageError for other contents."""
    return from_json(KeptPair, path.read_text(encoding="utf-8"))
