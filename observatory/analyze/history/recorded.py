"""What the results hold beside the changes in them: runs, series, lines and records. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from observatory.analyze.history.faults import about
from observatory.analyze.history.segments import STILL
from observatory.analyze.history.steps import PARAMETERS
from observatory.analyze.statements import Occurrence
from observatory.store.records.alerts import Alert, At, Change, SeriesChange, SeriesId, line_name

FEWEST_FOR_A_HABIT = 3
"""A machine that measured fewer subjects is never late."""
SAME = PARAMETERS.fewest - 1
"""Subjects by which the place of a step may move as more of them are measured: two steps of one
series lie further apart."""


@dataclass(frozen=True)
class Run:
    """What was measured last on one machine in one environment."""

    machine: str
    env_name: str
    subject: At
    measured_at: datetime
    subjects: int = FEWEST_FOR_A_HABIT
    """How many were ever measured there."""
    failures: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """How samples of the newest subject failed, and in which cells."""

    @property
    def name(self) -> str:
        """Machine and environment."""
        return line_name(self.machine, self.env_name)


@dataclass(frozen=True)
class Recorded:
    """What the results hold, beside the changes in them."""

    runs: tuple[Run, ...]
    series: frozenset[SeriesId]
    """The key of every series that has a value; not asked for where there was no alert before."""
    lines: Mapping[tuple[str, str], Sequence[Mapping[str, int]]]
    """By machine and environment: the position of each commit on each line."""
    unread: frozenset[str] = frozenset()
    """Machines of which something could not be read: no alert about them is withdrawn."""
    others: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Records of other kinds, as `fault_records` has them."""
    values: Callable[[SeriesId, Sequence[str]], Sequence[float]] = lambda *_: ()
    """The values of a series at some commits; none if it has not all of them."""

    def differs_no_more(self, alert: Alert) -> bool:
        """Whether the values on both sides of an alert are others now, and hardly differ.

        Only counts say so: a time is judged by levels, of which one subject is a small part.
        """
        counts = [one for one in alert.series if one.kind != "noisy"]
        return bool(counts) and all(self._differs_no_more(one) for one in counts)

    def _differs_no_more(self, one: SeriesChange) -> bool:
        if one.last_good is None:
            return False
        values = self.values(one.key, [one.last_good.commit, one.first_bad.commit])
        left = values[1] - values[0] if values else one.after - one.before
        return abs(left) < STILL * abs(one.after - one.before)

    def compares(self, alert: Alert) -> bool:
        """Whether the records of both ends of an alert are there, and are comparable."""
        place = alert.about.removesuffix(f", {alert.first_bad.label}")
        ends = [at for at in (alert.last_good, alert.first_bad) if at is not None]
        steps = {self.others.get((alert.kind, about(place, at))) for at in ends}
        return len(steps) == 1 and None not in steps

    @property
    def newest(self) -> datetime | None:
        """When the newest sample was taken."""
        return max((run.measured_at for run in self.runs), default=None)

    def recent(self, change: Change) -> bool:
        """Whether it begins among the last subjects of a line, or is on no line at all."""
        commit = change.first_bad.commit
        found = [
            len(positions) - 1 - positions[commit]
            for place in {(one.machine, one.env_name) for one in change.series}
            for positions in self.lines.get(place, ())
            if commit in positions
        ]
        return min(found, default=0) <= SAME

    def told(self, one: Occurrence, before: Iterable[Alert]) -> bool:
        """Whether one of the alerts before is probably about this change.

        One that is resolved told of a change that is over, and not of one that holds.
        """
        change = one.change
        for alert in before:
            over = alert.state == "resolved" and one.recovered is None
            if alert.kind == change.kind and not over:
                far = self.distance(change, alert)
                if alert.id == change.id or (far is not None and far <= SAME):
                    return True
        return False

    def distance(self, change: Change, alert: Alert) -> int | None:
        """The number of subjects between their beginnings, on a line of a series that both have.

        None if they have no series in common.
        """
        first, second = change.first_bad.commit, alert.first_bad.commit
        found = [
            abs(positions[first] - positions[second])
            for machine, env_name, *_ in {s.key for s in change.series}
            & {s.key for s in alert.series}
            for positions in self.lines.get((machine, env_name), ())
            if first in positions and second in positions
        ]
        return min(found, default=None)
