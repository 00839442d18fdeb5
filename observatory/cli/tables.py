"""Tables of ``observatory.text.tables`` on a terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable
from rich.text import Text

from observatory.text.tables import Table

_LOUD = ("WRONG", "CRASHED")
_WORDS = ("scenario", "backend", "launch", "metric", "model")
"""Columns of words of the vocabulary, which are never broken."""
_LABELS = ("from", "to")
"""Columns of subjects, which may be long."""


def render(table: Table) -> RichTable:
    """The table for rich. Texts are shown as they are: no markup in a name is ever obeyed."""
    drawn = RichTable(
        title=Text(table.title, style="bold"),
        caption=Text("\n".join(table.footnotes)) if table.footnotes else None,
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for name in table.header:
        drawn.add_column(
            Text(name),
            justify="left" if name in (*_WORDS, *_LABELS) else "right",
            no_wrap=name in _WORDS,
            overflow="fold",  # a version that is cut off is another one
        )
    for row in table.rows:
        drawn.add_row(*(Text(cell, style=_style(cell)) for cell in row))
    return drawn


def _style(cell: str) -> str:
    return "bold red" if any(word in cell for word in _LOUD) else ""
