"""Tables of ``observatory.decide.table`` on a terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable
from rich.text import Text

from observatory.decide.table import Table

_LOUD = ("WRONG", "CRASHED")


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
    texts = _text_columns(table)
    for index, name in enumerate(table.header):
        names = index < texts
        drawn.add_column(Text(name), justify="left" if names else "right", no_wrap=names)
    for row in table.rows:
        drawn.add_row(*(Text(cell, style=_style(cell)) for cell in row))
    return drawn


def _text_columns(table: Table) -> int:
    """How many columns from the left name things; those after them hold numbers."""
    words = ("scenario", "backend", "launch", "metric")
    return sum(name in words for name in table.header)


def _style(cell: str) -> str:
    return "bold red" if any(word in cell for word in _LOUD) else ""
