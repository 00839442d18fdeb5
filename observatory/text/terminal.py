"""A comparison on a terminal: the same text as the comment, drawn by rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from observatory.store.records.comparison import Comparison
from observatory.text import document as doc
from observatory.text.comparison.story import tell
from observatory.text.folding import Dotted
from observatory.text.plain import clean
from observatory.text.words import several

_STYLES: dict[doc.State, str] = {
    "worse": "bold red",
    "better": "bold green",
    "unaffected": "bold green",
    "undecided": "bold yellow",
}
_NAME = "cyan"
_UNFOLDED = 6
"""Lines of a folded list that a terminal shows, because it cannot unfold it."""
_SUMMED_UP = 9
"""Rank of the parts of which a terminal shows no more than what they are."""


def terminal(comparison: Comparison) -> RenderableType:
    """The text of the comment, for a console of 80 columns or more.

    It shows the first lines of folded lists, and none of the least important lists.
    """
    return drawn(tell(comparison))


def drawn(story: doc.Story) -> RenderableType:
    """The story for rich, which interprets no markup or control sequence of its texts."""
    first = (f"{story.status}: ", *story.verdict, ".")
    drawn: list[RenderableType] = [_text(first, _STYLES[story.state])]
    for part in story.parts:
        drawn.append(Text())
        for block in part.blocks:
            if part.rank >= _SUMMED_UP and isinstance(block, doc.Folded):
                drawn.append(Text(f"{clean(block.summary)}: see --markdown", style="dim"))
            else:
                drawn += _drawn(block)
    return Group(*drawn)


def blocks(of: Iterable[doc.Block]) -> RenderableType:
    """Blocks one below the other."""
    return Group(*(drawn for block in of for drawn in _drawn(block)))


def _drawn(block: doc.Block, most: int | None = None) -> Iterator[RenderableType]:
    match block:
        case doc.Heading(words):
            yield _text(words, "bold underline")
        case doc.Paragraph(words):
            yield _text(words)
        case doc.Points(items):
            grid = RichTable.grid(padding=(0, 1, 0, 0))
            grid.add_column(width=1)
            grid.add_column(overflow="fold")
            for item in items[:most]:
                grid.add_row("-", _text(item))
            yield grid
            yield from _more(len(items), most)
        case doc.Table(header, rows):
            yield _table(header, rows[:most])
            yield from _more(len(rows), most)
        case doc.Command(text):
            yield Padding(Text(clean(text), style="bold"), (0, 0, 0, 2))
        case doc.Folded(summary, content):
            yield Text(clean(summary), style="underline")
            for inner in content:
                yield from _drawn(inner, _UNFOLDED)


def _table(header: tuple[str, ...], rows: tuple[tuple[doc.Words, ...], ...]) -> RichTable:
    table = RichTable(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in header:
        table.add_column(Text(clean(name)), overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row))
    return table


def _cell(words: doc.Words) -> RenderableType:
    match words:
        case (doc.Name(text),):
            return Dotted(clean(text), _NAME)
    return _text(words)


def _more(number: int, most: int | None) -> Iterator[Text]:
    if most is not None and number > most:
        yield Text(f"and {several(number - most, 'more line')}: see --markdown", style="dim")


def _text(words: doc.Words, style: str = "") -> Text:
    made = Text(style=style)
    for part in words:
        match part:
            case doc.Name(text):
                made.append(clean(text), style=_NAME)
            case doc.Strong(text):
                made.append(clean(text), style="bold")
            case doc.Link(text):
                made.append(clean(text))
            case text:
                before, after = (" " * end.isspace() for end in (text[:1], text[-1:]))
                made.append(f"{before}{clean(text)}{after if text.strip() else ''}")
    return made
