"""The progress of a long call on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from observatory.app.progress import Update

_STYLES = {"warning": "yellow", "error": "red"}


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
            counted = (BarColumn(bar_width=24), MofNCompleteColumn()) if update.total else ()
            self._bar = Progress(
                SpinnerColumn(), TextColumn("{task.description}", markup=False), *counted,
                console=self._console, transient=True, disable=not self._console.is_terminal,
            )  # fmt: skip
            self._bar.add_task("", total=update.total)
            self._bar.start()
        text = update.text if update.kind == "activity" else None
        self._bar.update(self._bar.task_ids[0], description=text, completed=update.done)
