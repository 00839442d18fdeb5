"""Changes of exact metrics, followed from subject to subject. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.statements import Occurrence, over_by
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.alerts import At, SeriesChange


class Counted(NamedTuple):
    """A count of a later subject."""

    value: float
    worse: bool
    """Whether it is still worse than before the change, by the rule that found it."""


Count = Callable[[Evidence], Counted | None]
"""Reads a count from any subject; None where it has none."""


@dataclass(frozen=True, eq=False)
class CountedSubject:
    """One subject of a history, and its counting samples."""

    at: At
    evidence: Evidence
    number: int
    """Its place in the history."""
    cpu: str = ""
    """The processor of the machine that measured it."""


@dataclass(frozen=True)
class History:
    """The subjects of one machine and environment, oldest first."""

    machine: str
    env_name: str
    subjects: Iterable[CountedSubject]


@dataclass
class FollowedSeries:
    """One series of a change, followed from subject to subject."""

    cell: Cell
    change: SeriesChange
    count: Count
    over: At | None = None
    peak: float = 0.0
    """The highest count since it began, without the newest one."""

    def __post_init__(self) -> None:
        self.peak = self.change.after

    def update(self, subject: CountedSubject) -> None:
        """Update with the count of a later subject."""
        if self.over or (counted := self.count(subject.evidence)) is None:
            return
        if not counted.worse:
            self.over = subject.at
        if self.change.now is not None:
            self.peak = max(self.peak, self.change.now)
        news = {"now": counted.value, "newest": subject.at, "holds": self.over is None}
        self.change = self.change.model_copy(update=news)


@dataclass
class FollowedChange:
    """A change as it was found, and its series since."""

    found: Occurrence
    series: list[FollowedSeries]
    times: list[SeriesChange]

    def occurrence(self) -> Occurrence:
        """The change with the newest count of each series."""
        series = [*(one.change for one in self.series), *self.times]
        change = self.found.change.model_copy(update={"series": series})
        recovered = over_by([one.over for one in self.series]) if self.found.worse else None
        return replace(self.found, change=change, recovered=recovered)
