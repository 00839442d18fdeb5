"""The newest subject: whether its counts are right, and the newest value of a series. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from benchmarks.catalogue import Cell
from observatory.analyze.comparison.rules import best_of, conclude_levels, rule_at
from observatory.analyze.history.level_changes import DRIFT
from observatory.analyze.history.segments import UNUSUAL, SegmentedSeries
from observatory.analyze.history.steps import Step
from observatory.store.records.alerts import Alert, SeriesChange

_RECENT = timedelta(days=14)

Kind = Literal[
    "alert", "acknowledged", "first", "too few", "described", "better", "unusual", "as before"
]


def should_be_better(metric: str, cell: Cell, value: float | None) -> bool:
    """Whether an exact count is higher than its right value."""
    best = best_of(metric, cell.scenario, cell.backend)
    return best is not None and value is not None and value > best


def has_best(metric: str, cell: Cell) -> bool:
    """Whether an exact count has a right value."""
    return best_of(metric, cell.scenario, cell.backend) is not None


@dataclass(frozen=True)
class Checked:
    """The cells in which one metric has a right value, and those that are off, with values."""

    checked: Mapping[Cell, float]
    bad: Mapping[Cell, float]

    @classmethod
    def of(cls, metric: str, values: Mapping[Cell, float]) -> Checked:
        """Check the values of one subject, by cell."""
        checked = {cell: value for cell, value in values.items() if has_best(metric, cell)}
        bad = {
            cell: value for cell, value in checked.items() if should_be_better(metric, cell, value)
        }
        return cls(checked, bad)


@dataclass(frozen=True)
class NewestState:
    """What the newest value of a series means.

    ``before`` and ``after`` are in its unit, equal where nothing changed; ``since`` is the number
    of the value at which a change began, and ``alert`` what an alert says of it. ``step`` is the
    change of a noisy series between two levels, and ``drifting`` whether it is a drift.
    """

    kind: Kind
    before: float = 0.0
    after: float = 0.0
    since: int | None = None
    alert: SeriesChange | None = None
    step: Step | None = None
    drifting: bool = False

    @property
    def change(self) -> SeriesChange | Step | None:
        """What changed between two levels of a noisy series; None for counts and single values."""
        if self.alert is not None and self.alert.kind != "exact":
            return self.alert
        return self.step


def newest_state(
    track: SegmentedSeries, alerts: Sequence[tuple[Alert, SeriesChange]]
) -> NewestState:
    """An alert first, then a recent step, then the newest value alone.

    ``alerts``: those of the series, with what each says of it.
    """
    for alert, one in alerts:
        if alert.state != "resolved" and one.holds:
            kind: Kind = "acknowledged" if alert.state == "acknowledged" else "alert"
            drifting = alert.kind.startswith(DRIFT)
            return NewestState(kind, one.before, one.after, alert=one, drifting=drifting)
    newest = track.newest
    if newest.before is None:
        return NewestState("first")
    if track.judgement != "judged":
        kind = "too few" if track.judgement == "unfit" else "described"
        return NewestState(kind, newest.before, newest.value)
    if recent := _recent(track):
        return recent
    if newest.multiple is not None and abs(newest.multiple) >= UNUSUAL:
        return NewestState("unusual", newest.before, newest.value)
    return NewestState("as before")


def _recent(track: SegmentedSeries) -> NewestState | None:
    """A step to the better within the last two weeks: one to the worse is an alert."""
    bounds, series = track.bounds, track.series
    if len(bounds) < 3:
        return None
    since = bounds[-2]
    if series.line.subjects[-1].date - series.subject(since).date > _RECENT:
        return None
    if track.judgement == "exact":
        before, after = track.levels[-2:]
        better = conclude_levels(rule_at(series.place), before, after) == "better"
        return NewestState("better", before, after, since) if better else None
    step = track.steps[-1]
    return None if step.worse else NewestState("better", step.before, step.after, since, step=step)
