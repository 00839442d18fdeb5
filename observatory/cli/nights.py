"""How a night, or another row of steps, is shown, and the exit status that it ends with."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from observatory.cli.output import grid
from observatory.dashboard.pages import night as page
from observatory.errors import Exit, severest
from observatory.store.journal.night import Night, NightStep
from observatory.text import units


def status_of(night: Night) -> int:
    """The exit status of a command that carried out these steps."""
    if not night.over:
        return Exit.INTERRUPTED
    worst = severest(step.status for step in night.steps if step.status)
    return worst if worst >= 0 else Exit.UNEXPECTED


def table(night: Night, title: str) -> Table:
    """A row for each step: what became of it, and how long it took."""
    rows = [
        (one.name, Text(one.outcome, style="" if one.good else "red"),
         "" if one.took is None else units.seconds(one.took))
        for one in map(outcome_of, night.steps)
    ]  # fmt: skip
    header = ("step", "outcome", "took")
    return grid(header, rows, title=title, right=("took",), wrapped=("outcome",))


def outcome_of(step: NightStep) -> page.StepOutcome:
    """What became of a step."""
    took = (step.ended - step.began).total_seconds() if step.ended and step.began else None
    return page.StepOutcome(step.name, _outcome(step), took, step.status == Exit.OK)


def _outcome(step: NightStep) -> str:
    if step.skipped is not None:
        return f"skipped: {step.skipped}"
    if step.status is None:
        return "interrupted" if step.tries else "not started"
    if step.status == Exit.OK:
        return "done" if step.tries == 1 else f"done, after {step.tries} attempts"
    if step.status in set(Exit):
        return f"{step.status}: {Exit(step.status).meaning}"
    return f"killed by signal {-step.status}" if step.status < 0 else f"status {step.status}"
