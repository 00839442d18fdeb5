"""What a search is for: the ends of a range, a cell and a metric, as an alert has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from observatory.benchmarks.catalogue import COMPARED, SCENARIOS, Cell
from observatory.errors import SelectionError
from observatory.store.records import alerts as alerts_record
from observatory.store.records.alerts import Alert, At, SeriesChange

RELEASE = re.compile(r"\d+(\.\d+)+")
_ORDER = ("exact", "near_exact", "noisy")
"""Which kind of metric is searched for first."""


@dataclass(frozen=True)
class Wanted:
    """What is searched for: the ends of a range, a cell and a metric."""

    good: str
    bad: str
    cell: Cell
    metric: str
    ratio: float | None = None
    """By how much it changed, if that is known."""
    instead_of: str | None = None
    """The time whose work the metric is."""
    samples: int = 0
    """Of work, taken to find out whether it explains the time."""


def wanted_of(alert: Alert) -> Wanted:
    """The last good and the first bad subject of an alert, and the series that moved the most.

    Raises SelectionError if no search can follow the change.
    """
    series = searchable_series(alert)
    if series is None:
        if all(one.last_good is None for one in alert.series):
            raise SelectionError(
                f"alert {alert.id} has no good subject before it: there is no range to search"
            )
        names = ", ".join(sorted({one.metric for one in alert.series}))
        raise SelectionError(
            f"alert {alert.id} is about {names}, which the observatory does not measure itself: "
            "give git bisect a command that measures it"
        )
    assert series.last_good is not None
    ratio = series.after / series.before if series.before and series.after else None
    return Wanted(
        _end(series.last_good), _end(series.first_bad), Cell(*series.benchmark.split()),
        series.metric, ratio,
    )  # fmt: skip


def wanted_named(
    results: Path, ends: Sequence[str], cell: str, metric: str, otherwise: str = ""
) -> Wanted:
    """What a person asks for: by the id of an alert, or by two ends, a cell and a metric.

    ``otherwise``: what else the command accepts. Raises SelectionError.
    """
    if len(ends) == 1:
        return of_alert(results, ends[0])
    if len(ends) != 2:
        raise SelectionError(f"give the id of one alert, or two ends: GOOD BAD{otherwise}")
    if metric not in COMPARED:
        raise SelectionError(f"there is no metric {metric!r}; docs/reference/metrics.md lists them")
    words = cell.split()
    if len(words) != 4:
        raise SelectionError(
            f"--cell {cell!r} is not a cell: write its model, scenario, backend and start method, "
            'as in "radon warm_disk NUMBA spawn"'
        )
    good, bad = ends
    return Wanted(good, bad, Cell(*words), metric)


def of_alert(results: Path, name: str) -> Wanted:
    """What the alert whose id begins so wants. Raises SelectionError if there is none."""
    file = alerts_record.load(results)
    known: Sequence[Alert] = () if file is None else file.alerts
    alert = next((one for one in known if one.id.startswith(name)), None)
    if alert is None:
        raise SelectionError(f"{results} has no alert {name!r}; `observatory alerts` lists them")
    return wanted_of(alert)


def searchable_series(alert: Alert) -> SeriesChange | None:
    """The series that the fewest samples tell: a count before a work, and that before a time."""
    found = [
        one for one in alert.series
        if one.kind in _ORDER and one.metric in COMPARED and one.last_good is not None
    ]  # fmt: skip
    return min(found, key=lambda one: _ORDER.index(one.kind), default=None)


def cost(alert: Alert) -> tuple[int, float]:
    """The kind of its metric, and about how many seconds a sample takes."""
    series = searchable_series(alert)
    if series is None:
        return len(_ORDER), 0.0
    cell = Cell(*series.benchmark.split())
    known = SCENARIOS.get(cell.scenario)
    seconds = 0.0 if known is None else known.seconds_with(cell.backend)
    return _ORDER.index(series.kind), seconds


def _end(at: At) -> str:
    """A release, with its further requirements if it has any; else the commit."""
    return at.label if RELEASE.fullmatch(at.label.partition(" ")[0]) else at.commit
