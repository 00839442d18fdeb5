"""Markdown that code hosts and the site render alike."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(text: str) -> str:
    """A sentence from the code on one line; of Markdown, it may contain only code spans."""
    safe = html.escape(" ".join(text.split()), quote=False)
    for character in "|*[":
        safe = safe.replace(character, f"&#{ord(character)};")
    return safe


def code(text: object) -> str:
    """A code span for a table, where a vertical bar would end the cell."""
    plain = str(text)
    if "|" in plain or "`" in plain:
        return f"<code>{cell(plain).replace('`', '&#96;')}</code>"
    return f"`{plain}`"


def codes(names: Iterable[object]) -> str:
    """Several code spans."""
    return ", ".join(map(code, names))


def fenced(text: str) -> str:
    """A block of code, which may contain fences."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"
