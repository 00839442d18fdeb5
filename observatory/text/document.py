"""A document as plain data, for two renderers: GitHub's Markdown and the terminal.

Any text in it may come from an untrusted file. The renderers show everything but plain words and
numbers as code, so that no text acts as markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

State = Literal["worse", "better", "unaffected", "undecided"]


@dataclass(frozen=True)
class Name:
    """A word of the catalogue or of the measured code: shown as code."""

    text: str


@dataclass(frozen=True)
class Strong:
    """Words in bold."""

    text: str


@dataclass(frozen=True)
class Link:
    """Words that lead to an address; a renderer shows them alone where the address is not safe."""

    text: str
    url: str
    """https://..., or the path of a page of the documentation, which `placed` makes an address."""


Piece: TypeAlias = str | Name | Strong | Link
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
class Status:
    """The first words of a text: what came out, as a mark and a word. Never a stranger's words."""

    mark: str
    word: str

    def __str__(self) -> str:
        return f"{self.mark} {self.word}"


@dataclass(frozen=True)
class Story:
    """The whole text on one comparison, in reading order."""

    state: State
    status: Status
    verdict: Words
    """One claim, which follows the status and a colon."""
    parts: tuple[Part, ...]

    @property
    def title(self) -> str:
        """Status and verdict as plain text, not yet safe to show."""
        return f"{self.status}: {spoken(self.verdict)}"


def spoken(words: Words) -> str:
    """A sentence as plain text."""
    return "".join(part if isinstance(part, str) else part.text for part in words)


Change: TypeAlias = Callable[[Words], Words]
"""Makes other words of a sentence, of a cell of a table, or of a title."""
_Some = TypeVar("_Some", bound=Block)


def changed(story: Story, change: Change) -> Story:
    """The story with every sentence changed; commands stay as they are."""
    parts = (
        replace(part, blocks=tuple(_changed(block, change) for block in part.blocks))
        for part in story.parts
    )
    return replace(story, verdict=change(story.verdict), parts=tuple(parts))


def _changed(block: _Some, change: Change) -> _Some:
    match block:
        case Heading(words) | Paragraph(words):
            return replace(block, words=change(words))
        case Points(items):
            return replace(block, items=tuple(map(change, items)))
        case Table(header, rows):
            titles = tuple(spoken(change((title,))) for title in header)
            cells = tuple(tuple(map(change, row)) for row in rows)
            return replace(block, header=titles, rows=cells)
        case Folded(summary, content):
            inner = tuple(_changed(one, change) for one in content)
            return replace(block, summary=spoken(change((summary,))), content=inner)
    return block
