"""Dotted names on a terminal: where there is no room, they are broken behind a dot."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text


def pieces(name: str) -> list[str]:
    """What stays whole of a name: its words, each with its dot; the last with its parameters.

    >>> pieces("sorting.Sort.time_list('a.b')")
    ['sorting.', 'Sort.', "time_list('a.b')"]
    """
    dotted, bracket, parameters = name.partition("(")
    *words, last = dotted.split(".")
    return [*(f"{word}." for word in words), f"{last}{bracket}{parameters}"]


@dataclass(frozen=True)
class Dotted:
    """A name that rich breaks behind a dot; within a word only if the word has no room."""

    name: str
    style: str = ""

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """The name in as many lines as it needs."""
        lines = [""]
        for piece in pieces(self.name):
            if lines[-1] and cell_len(lines[-1] + piece) > options.max_width:
                lines.append("")
            lines[-1] += piece
        yield Text("\n".join(lines), self.style, overflow="fold")

    def __rich_measure__(self, _: Console, options: ConsoleOptions) -> Measurement:
        """From the longest piece to the whole name."""
        longest = max(map(cell_len, pieces(self.name)))
        return Measurement(longest, cell_len(self.name)).clamp(None, options.max_width)
