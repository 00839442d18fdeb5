"""The progress of a run on a terminal: which cell is measured, how far it is, how long it takes."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.status import Status

from observatory.app.progress import (
    Activity,
    Message,
    RunBegins,
    RunEnds,
    SampleBegins,
    SampleEnds,
    Update,
    failure_of,
)
from observatory.run.schedule import Estimate
from observatory.text.units import seconds

_STYLES = {"plain": None, "warning": "yellow", "error": "red"}


class TerminalProgress:
    """A bar on a terminal; elsewhere a line for each sample, so that a log can be followed.

    Called with each update of `observatory.app.progress`.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._run: _Run | None = None
        self._status: Status | None = None

    def __call__(self, update: Update) -> None:
        """Show one update."""
        match update:
            case Message():
                self._say(update.text, _STYLES[update.kind])
            case Activity():
                self._show(update.text)
            case RunBegins():
                self._run = _Run(self._console, update)
            case RunEnds():
                if self._run is not None:
                    self._run.bar.stop()
                self._run = None
            case SampleBegins() | SampleEnds() if self._run is not None:
                self._run.update(update)

    def _say(self, text: str, style: str | None) -> None:
        self._console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    def _show(self, text: str) -> None:
        if self._status is None and text:
            self._status = self._console.status(text)
            self._status.start()
        elif self._status is not None and text:
            self._status.update(text)
        elif self._status is not None:
            self._status.stop()
            self._status = None


class _Run:
    """The samples of one subject."""

    def __init__(self, console: Console, begins: RunBegins) -> None:
        self._console = console
        self._label = begins.label
        self._estimate = Estimate(begins.tasks, begins.workers)
        self._total = len(begins.tasks)
        self._done = 0
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._row = self.bar.add_task(begins.label, total=self._total, left="")
        self.bar.start()

    def update(self, update: SampleBegins | SampleEnds) -> None:
        """Show that a sample begins or ends."""
        task = update.task
        if isinstance(update, SampleBegins):
            what = f"{self._label}  {task.cell}  {task.measure}"
            self.bar.update(self._row, description=what, left=self._left())
            return
        self._estimate.finished(task, update.took)
        self._done += 1
        self.bar.update(self._row, completed=self._done, left=self._left())
        failure = failure_of(update.sample)
        line = (
            f"{self._label} [{self._done}/{self._total}] {task.cell} {task.measure} "
            f"{seconds(update.took)}, {self._left()}"
        )
        if failure:
            line = f"{self._label}: {task.cell} ({task.measure}) {failure}"
        if failure or not self._console.is_terminal:
            style = "red" if failure else None
            self._console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)

    def _left(self) -> str:
        minutes, rest = divmod(round(self._estimate.seconds_left()), 60)
        return f"about {minutes}:{rest:02} left"
