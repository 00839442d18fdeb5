"""What is concluded on each series of a history, for pages that judge nothing. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import numpy as np
import numpy.typing as npt

from observatory.analyze.comparison import rules
from observatory.analyze.history.level_changes import DRIFT
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.segments import UNUSUAL, SegmentedSeries
from observatory.analyze.history.series import Series
from observatory.analyze.history.steps import Step
from observatory.store.records.alerts import Alert, Alerts, SeriesChange, SeriesId
from observatory.store.records.calibration import Calibration
from observatory.store.records.comparison import Conclusion

_RECENT = timedelta(days=14)

Kind = Literal[
    "alert", "acknowledged", "event", "first", "too few", "described", "better", "unusual",
    "as before",
]  # fmt: skip
_KINDS: Mapping[str, Kind] = {"acknowledged": "acknowledged", "event": "event"}
"""By the state of an alert; of every other that holds it is `alert`."""


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


@dataclass(frozen=True, eq=False, slots=True)
class SeriesVerdicts:
    """Everything that is concluded on one series."""

    rule: rules.Rule
    """With the noise floor that its machine was calibrated with."""
    best: int | None
    """What an exact count should be; None if no number is better than another."""
    alerts: Sequence[tuple[Alert, SeriesChange]]
    """The alerts that begin on its line, and what each says of it."""
    track: SegmentedSeries

    @property
    def wrong(self) -> npt.NDArray[np.bool_]:
        """For each value, whether it is higher than ``best``."""
        values = self.track.series.values
        return np.zeros(len(values), np.bool_) if self.best is None else values > self.best

    @property
    def last(self) -> Conclusion:
        """On the newest value against the one before it."""
        return _last(self.track, self.rule)

    @property
    def state(self) -> NewestState:
        """What its newest value means."""
        return newest_state(self.track, self.alerts)


class Verdicts:
    """What is concluded on every series, which is asked one by one: of all it would be much."""

    def __init__(self, alerts: Alerts, calibrations: Iterable[Calibration] = ()) -> None:
        self._floors = MachineFloors(calibrations)
        self._named: dict[SeriesId, list[tuple[Alert, SeriesChange]]] = defaultdict(list)
        for alert in alerts.alerts:
            for one in alert.series:
                self._named[one.key].append((alert, one))
        self._lines = {key[:2] for key in self._named}

    def on(self, track: SegmentedSeries) -> SeriesVerdicts:
        """The conclusions on a series."""
        return SeriesVerdicts(*self.rule_of(track), self.alerts_on(track.series), track)

    def rule_of(self, track: SegmentedSeries) -> tuple[rules.Rule, int | None]:
        """The rule of a series, and what an exact count should be."""
        place = track.series.place
        best = rules.best_of(place.metric, place.scenario, place.backend) if place.model else None
        return self._floors.rule_of(track.series), best

    def alerts_on(self, series: Series) -> Sequence[tuple[Alert, SeriesChange]]:
        """The alerts that begin on the line of a series, and what each says of it."""
        if series.line.key not in self._lines or series.key not in self._named:
            return ()
        # Another environment has alerts of its own, and the name of a series may be the same.
        commits = series.commits
        return [each for each in self._named[series.key] if each[1].first_bad.commit in commits]


def _last(track: SegmentedSeries, rule: rules.Rule) -> Conclusion:
    """By values of counts, and by levels of what is noisy."""
    values = track.series.values
    if len(values) < 2 or (rule.kind == "noisy" and track.judgement != "judged"):
        return "undecided"
    before, after = (track.expected if rule.kind == "noisy" else values)[-2:].tolist()
    return rules.judged_values(rule, before, after, bool(track.off[-2:].any()))


def newest_state(
    track: SegmentedSeries, alerts: Sequence[tuple[Alert, SeriesChange]]
) -> NewestState:
    """An alert first, then a recent step, then the newest value alone.

    ``alerts``: those of the series, with what each says of it.
    """
    for alert, one in alerts:
        if alert.state != "resolved" and one.holds:
            kind: Kind = _KINDS.get(alert.state, "alert")
            drifting = alert.kind.startswith(DRIFT)
            return NewestState(kind, one.before, one.after, alert=one, drifting=drifting)
    before, value = track.before, float(track.series.values[-1])
    if before is None:
        return NewestState("first")
    if track.judgement != "judged":
        kind = "too few" if track.judgement == "unfit" else "described"
        return NewestState(kind, before, value)
    if recent := _recent(track):
        return recent
    if track.multiple is not None and abs(track.multiple) >= UNUSUAL:
        return NewestState("unusual", before, value)
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
        rule = rules.rule_at(series.place, None, series.source)
        better = rules.conclude_levels(rule, before, after) == "better"
        return NewestState("better", before, after, since) if better else None
    step = track.steps[-1]
    return None if step.worse else NewestState("better", step.before, step.after, since, step=step)
