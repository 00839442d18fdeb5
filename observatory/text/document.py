"""What is said of a comparison, as plain data. Two renderers draw it: GitHub's and the terminal's.

Every text in a document may come from a stranger's file. No renderer trusts any: what is not
plain words and numbers is shown as code, so that nothing is ever obeyed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

State = Literal["worse", "better", "unaffected", "undecided"]


@dataclass(frozen=True)
class Name:
    """A word of the vocabulary or of the measured code: shown as code."""

    text: str


@dataclass(frozen=True)
class Strong:
    """Words in bold."""

    text: str


Piece: TypeAlias = str | Name | Strong
Words: TypeAlias = tuple[Piece, ...]
"""A sentence in parts, spaces included."""


def written(text: str) -> Words:
    """A text in which backticks mark names, as a sentence.

    >>> written("see `--json`.")
    ('see ', Name(text='--json'), '.')
    """
    parts = re.split(r"`([^`]+)`", text)
    return tuple(Name(part) if index % 2 else part for index, part in enumerate(parts) if part)


@dataclass(frozen=True)
class Heading:
    """The title of what follows."""

    words: Words


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    words: Words


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    items: tuple[Words, ...]


@dataclass(frozen=True)
class Table:
    """A table: every row as long as ``header``; the first column names, the others tell."""

    header: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]


@dataclass(frozen=True)
class Command:
    """What a person types in a shell."""

    text: str


@dataclass(frozen=True)
class Folded:
    """Blocks that a reader opens; the summary tells what is inside and how much of it."""

    summary: str
    content: tuple[Flat, ...]


Flat: TypeAlias = Heading | Paragraph | Points | Table | Command
Block: TypeAlias = Flat | Folded


@dataclass(frozen=True)
class Part:
    """Blocks that stay or go together where space is short.

    ``rank`` says how soon they go: the highest first, and of equals the last. ``noun`` names
    them to the reader who does not get them: "a list of functions".
    """

    rank: int
    noun: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Story:
    """All that is said of one comparison, in the order in which it is read."""

    state: State
    verdict: Words
    parts: tuple[Part, ...]
