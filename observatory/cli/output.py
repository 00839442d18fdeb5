"""What commands print: tables, progress, unreadable files, outcomes and job summaries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console as RichConsole
from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from observatory.app.progress import Update, skipped
from observatory.errors import Exit, SelectionError
from observatory.store.base.problems import Problem
from observatory.text.folding import Dotted, pieces
from observatory.text.plain import for_log

if TYPE_CHECKING:
    from observatory.app.measurement import Measurement
    from observatory.text.tables import Table

_LOUD = ("WRONG", "CRASHED", "COLLIDED")
_WORDS = ("scenario", "backend", "launch", "metric", "model", "graph")
"""Columns of words of the vocabulary, which are never broken."""
_LABELS = ("from", "to", "phase", "rewriter", "function", "module", "benchmark")
"""Columns of subjects and other names, which may be long."""
_DOTTED = "benchmark"
"""The column of names that are broken behind a dot."""
_MOST_TABLES = 2
_STYLES = {"warning": "yellow", "error": "red"}


def say(*lines: object, end: str = "\n") -> None:
    """Print each line as for a log, on terminals too, where `print` lets a text control them."""
    for line in lines:
        print(for_log(str(line)), end=end)  # noqa: T201


class Console(RichConsole):
    """A console that prints texts as for a log, on terminals too: no text can control them."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print objects of rich, and texts without control characters."""
        safe = (for_log(one) if isinstance(one, str) else one for one in objects)
        super().print(*safe, **options)


def grid(
    header: Sequence[str],
    rows: Iterable[Sequence[str | RenderableType]],
    *,
    title: str = "",
    right: Collection[str] = (),
    wrapped: Collection[str] = (),
) -> RichTable:
    """A table for the terminal. It shows texts as they are and obeys no markup in them.

    ``right``: names of the columns that are aligned to the right. ``wrapped``: names of those whose
    texts may be broken; nothing is ever cut off.
    """
    drawn = RichTable(
        title=Text(for_log(title), style="bold") if title else None, title_justify="left",
        caption_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0),
    )  # fmt: skip
    for name in header:
        drawn.add_column(
            Text(for_log(name)),
            justify="right" if name in right else "left",
            no_wrap=name not in wrapped,
            overflow="fold",
        )
    for row in rows:
        drawn.add_row(*map(_cell, row))
    return drawn


def _cell(cell: str | RenderableType) -> RenderableType:
    """A text of a table, without control characters; its style stays."""
    if isinstance(cell, Text):
        return Text(for_log(cell.plain), style=cell.style)
    return Text(for_log(cell)) if isinstance(cell, str) else cell


def _fit(drawn: RichTable, table: Table, wrapped: Collection[str], width: int) -> None:
    """Give columns their widths so that no value is broken, and no header but between its words.

    Where there is not enough room for that, nothing is done, and rich breaks texts as it can.
    """
    columns = [
        (name, [for_log(text) for text in texts])
        for name, *texts in zip(table.header, *table.rows, strict=True)
    ]

    def longest(texts: Iterable[str]) -> int:
        return max(map(cell_len, texts), default=0)

    least = [
        max(
            longest(name.split() if name in wrapped else [name]),
            longest(one for text in texts for one in (pieces(text) if name == _DOTTED else [text])),
        )
        for name, texts in columns
    ]
    most = [longest([name, *texts]) for name, texts in columns]
    for padding in (1, 0):
        # Beside its padding, each column has one place for the line to the next one.
        room = width - 1 - sum(least) - (padding + 1) * len(least)
        if room < 0:
            continue
        drawn.padding = (0, padding, 0, 0)
        for column, own, whole in zip(drawn.columns, least, most, strict=True):
            column.width = min(whole, own + room)
            room -= column.width - own
        return


def render(table: Table, width: int) -> RichTable:
    """A table of ``observatory.text.tables`` for a terminal of this width."""
    rows = (
        [
            Dotted(for_log(cell)) if name == _DOTTED else Text(for_log(cell), style=_style(cell))
            for name, cell in zip(table.header, row, strict=True)
        ]
        for row in table.rows
    )
    right = set(table.header) - {*_WORDS, *_LABELS}
    wrapped = set(table.header) - set(_WORDS)
    drawn = grid(table.header, rows, title=table.title, right=right, wrapped=wrapped)
    _fit(drawn, table, wrapped, width)
    drawn.caption = Text(for_log("\n".join(table.footnotes))) if table.footnotes else None
    return drawn


def show(console: Console, table: Table) -> None:
    """Print a table; of one without rows, only the footnotes that say what went wrong."""
    if table.rows:
        console.print(render(table, console.width))
        return
    for line in filter(_style, table.footnotes):
        console.print(f"{table.title}: {line}", style="bold red", markup=False, highlight=False)


def _style(cell: str) -> str:
    return "bold red" if any(word in cell for word in _LOUD) else ""


def report_problems(problems: Sequence[Problem], strict: bool) -> None:
    """Name unreadable files on stderr; with ``strict``, end with the exit status for them."""
    console = Console(stderr=True)
    for line in skipped(problems):
        # A path that is cut in two cannot be copied.
        console.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)
    if problems and strict:
        raise typer.Exit(Exit.UNREADABLE)


def name_broken(results: Path, told_later: str = "") -> None:
    """Name on stderr what cannot be read in a results directory, for a command that goes without.

    ``told_later``: the name of a file without which the command ends, and which it names itself.
    """
    from observatory.store.reading.beside import problems_beside  # which imports pydantic's models
    from observatory.store.reading.cache import directory_for
    from observatory.store.reading.read import read_results

    read = read_results(results, directory_for(results)).problems if results.is_dir() else ()
    every = (*read, *problems_beside(results))
    report_problems([one for one in every if one.path.name != told_later], strict=False)


@contextmanager
def naming_problems(
    problems: Sequence[Problem], strict: bool, *, nothing: bool = False
) -> Iterator[None]:
    """Name unreadable files after the block, also if it finds nothing to show.

    They are the reason, and the exit status, if ``nothing`` at all could be read. The block may
    add to ``problems``.
    """
    try:
        yield
    except SelectionError:
        report_problems(problems, strict or nothing)
        raise
    report_problems(problems, strict)


def finish(console: Console, measurement: Measurement) -> None:
    """Print the outcome of a measurement, and end with its exit status if that is not 0."""
    print_outcome(console, measurement)
    if measurement.exit_code:
        raise typer.Exit(measurement.exit_code)


def print_outcome(console: Console, measurement: Measurement) -> None:
    """Print the tables of what was measured, where it is, and which files could not be read."""
    from observatory.app.results import read  # these two import pandas
    from observatory.text.tables import subject_tables

    reading = read(measurement.results)
    ours = reading.frame[reading.frame["machine"] == measurement.machine]
    shown = [label for label in measurement.labels if label in set(ours["subject"])]
    for label in shown if len(shown) <= _MOST_TABLES else ():
        for table in subject_tables(ours, label, reading.notes):
            show(console, table)
    console.print(measurement.tally.sentence(), markup=False, highlight=False)
    say(f"Results: {measurement.results.resolve()}")
    report_problems(reading.problems, strict=False)


def append_summary(path: Path, text: str) -> None:
    """Append a text to a job's summary, to which other steps write too. Raises SelectionError."""
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(for_log(text))
    except OSError as error:
        raise SelectionError(f"--summary {path} cannot be written: {error.strerror}") from error


def on_terminal() -> TerminalProgress:
    """Progress of a command whose output others may read: on stderr, and only on a terminal."""
    return TerminalProgress(Console(stderr=True))


class TerminalProgress:
    """Shows updates: as a bar on a terminal, and elsewhere as lines, which a log can hold."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None

    def __call__(self, update: Update) -> None:
        """Show one update."""
        if update.kind in ("activity", "sample"):
            self._draw(update)
        if update.kind != "activity" and (update.kind != "sample" or not self._console.is_terminal):
            self._console.print(
                update.text, style=_STYLES.get(update.kind), markup=False, highlight=False,
                soft_wrap=True,
            )  # fmt: skip

    def _draw(self, update: Update) -> None:
        if not update.text:
            if self._bar is not None:
                self._bar.stop()
            self._bar = None
            return
        if self._bar is None:
            counted = (BarColumn(bar_width=10), MofNCompleteColumn()) if update.total else ()
            self._bar = Progress(
                SpinnerColumn(), *counted,
                # It gets what is left of the line, and the bar keeps its width.
                TextColumn(
                    "{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True)
                ),
                console=self._console, transient=True, disable=not self._console.is_terminal,
                expand=True,
            )  # fmt: skip
            self._bar.add_task("", total=update.total)
            self._bar.start()
        text = for_log(update.text) if update.kind == "activity" else None
        (drawn,) = self._bar.task_ids
        self._bar.update(drawn, description=text, completed=update.done, total=update.total)
