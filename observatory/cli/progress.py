"""The progress of a run: which cell is being measured, how far it is, how long the rest takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from benchmarks.plan import Task
from observatory.decide.units import seconds
from observatory.run.estimate import Estimate
from observatory.run.schedule import Event


class RunProgress:
    """A bar on a terminal; elsewhere a line for each sample, so that a log can be followed."""

    def __init__(self, console: Console, label: str, tasks: Sequence[Task], workers: int) -> None:
        self._console = console
        self._label = label
        self._estimate = Estimate(tasks, workers)
        self._began: dict[int, float] = {}
        self._total = len(tasks)
        self._done = 0
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._row = self._bar.add_task(label, total=len(tasks), left="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def notify(self, event: Event) -> None:
        """Show that a task began or ended."""
        task, sample = event.task, event.sample
        if sample is None:
            self._began[id(task)] = time.monotonic()
            what = f"{self._label}  {task.cell}  {task.measure}"
            self._bar.update(self._row, description=what, left=self._left())
            return
        took = time.monotonic() - self._began.pop(id(task))
        self._estimate.finished(task, took)
        self._done += 1
        self._bar.update(self._row, completed=self._done, left=self._left())
        if sample.status not in ("ok", "unavailable"):
            why = sample.failure.message if sample.failure else sample.status
            self._console.print(
                f"{self._label}: {task.cell} ({task.measure}) {sample.status}: {why}",
                style="red",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
        elif not self._console.is_terminal:
            self._console.print(
                f"{self._label} [{self._done}/{self._total}] {task.cell} {task.measure} "
                f"{seconds(took)}, {self._left()}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )

    def _left(self) -> str:
        minutes, rest = divmod(round(self._estimate.seconds_left()), 60)
        return f"about {minutes}:{rest:02} left"
