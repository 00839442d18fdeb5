"""Values of our own cells as typed rows, in the order of the history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import Line
from observatory.benchmarks.catalogue import WARM_SCENARIOS, Cell
from observatory.dashboard.site_input import SiteInput


class Flag(NamedTuple):
    """A short statement with the class of its colour (empty: plain) and a mark beside it."""

    text: str
    state: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Setting:
    """Where numbers may be compared with each other: one machine of one kind, one environment."""

    python: str
    machine: str
    env_name: str = ""
    kind: str = ""
    """The processor and system of the machine."""

    def __str__(self) -> str:
        return f"Python {self.python} on {self.machine}"

    @property
    def whole(self) -> str:
        """The setting with the kind of its machine, which distinguishes equal names."""
        return ", ".join(word for word in (str(self), self.kind) if word)

    def is_of(self, line: Line) -> bool:
        """Whether a line was measured in it."""
        return self == setting_of(line)


@dataclass(frozen=True)
class CellValue:
    """One metric of one cell of one subject. ``value`` is None where none was obtained."""

    subject: str
    pytensor: str
    numba: str | None
    setting: Setting
    cell: Cell
    metric: str
    value: float | None
    n: int | None
    low: float | None
    high: float | None
    date: datetime | None
    wrong: bool | None
    """Whether a count is higher than it should be; None if no number is the right one."""
    source: str = ""
    """Of work: what counted it. Counts of two sources are not comparable."""

    @property
    def order(self) -> tuple[datetime, tuple[int, ...], bool, str]:
        """The sort key of the history: date, then version, a plain release last."""
        numbers = tuple(int(digits) for digits in re.findall(r"\d{1,9}", self.pytensor))
        date = self.date or datetime.min.replace(tzinfo=UTC)
        return date, numbers, self.is_plain, self.subject

    @property
    def is_plain(self) -> bool:
        """Whether the subject is a release or commit as it is, without an extra requirement."""
        return " " not in self.subject.strip()


def unasked(
    cell: Cell, misses: CellValue, compiled: CellValue | None, refused: CellValue | None
) -> float:
    """How many functions a warm build compiles although no lookup missed; 0 elsewhere.

    Of a cache that is never asked, "no misses" would say that nothing is compiled again. Functions
    that a cache refused to store are counted apart.
    """
    if cell.scenario not in WARM_SCENARIOS or misses.value or compiled is None:
        return 0.0
    apart = refused.value if refused is not None else None
    return max(0.0, (compiled.value or 0.0) - (apart or 0.0))


def setting_of(line: Line) -> Setting:
    """Where a line was measured."""
    era = line.era
    kind = ", ".join(word for word in (era.cpu, era.os) if word)
    return Setting(era.python or "unknown", line.machine, line.env_name, kind)


def cell_values_of(observed: SiteInput, metrics: frozenset[str]) -> tuple[CellValue, ...]:
    """Every value of ``metrics`` in our own cells, in the order of the history."""
    found = (
        one
        for track in observed.tracks
        if track.series.place.model and track.series.place.metric in metrics
        for one in _of(track, observed)
    )
    return tuple(sorted(found, key=lambda one: (one.order, one.cell, one.metric)))


def _of(track: SegmentedSeries, observed: SiteInput) -> Iterator[CellValue]:
    series, place = track.series, track.series.place
    setting = setting_of(series.line)
    cell, verdicts = place.cell, observed.verdicts_on(track)
    for index, value in enumerate(series.values.tolist()):
        subject = series.subject(index)
        header = observed.files[subject.file].header
        n, low, high = observed.interval(series, index)
        yield CellValue(
            subject.label, header.versions.pytensor if header else "",
            header.versions.numba if header else None, setting, cell, place.metric,
            value=value, n=max(n, 1), low=low, high=high, date=subject.date,
            wrong=None if verdicts.best is None else bool(verdicts.wrong[index]),
            source=series.source,
        )  # fmt: skip
