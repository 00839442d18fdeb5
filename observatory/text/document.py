"""A document as plain data, for two renderers: GitHub's Markdown and the terminal.

Any text in it may come from an untrusted file. The renderers show everything but plain words and
numbers as code, so that no text acts as markup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

State = Literal["worse", "better", "unaffected", "undecided"]


@dataclass(frozen=True)
class Name:
    """A word of the catalogue or of the measured code: shown as code."""

    text: str


@dataclass(frozen=True)
class Strong:
    """Words in bold."""

    text: str


Piece: TypeAlias = str | Name | Strong
Words: TypeAlias = tuple[Piece, ...]
"""A sentence in parts, spaces included."""


def written(text: str) -> Words:
    """The text as a sentence, with names where it has backticks.

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
    """A table; every row is as long as ``header``."""

    header: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]


@dataclass(frozen=True)
class Command:
    """A command for a shell."""

    text: str


@dataclass(frozen=True)
class Folded:
    """Blocks that a reader opens; the summary says what is inside and how much."""

    summary: str
    content: tuple[Flat, ...]


Flat: TypeAlias = Heading | Paragraph | Points | Table | Command
Block: TypeAlias = Flat | Folded


@dataclass(frozen=True)
class Part:
    """Blocks that are kept or left out together where space is short.

    Those with the highest ``rank`` are left out first, and of equals the last. ``noun`` names what
    was left out: "a list of functions".
    """

    rank: int
    noun: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Story:
    """The whole text on one comparison, in reading order."""

    state: State
    verdict: Words
    parts: tuple[Part, ...]
