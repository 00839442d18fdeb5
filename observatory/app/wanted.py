"""What a search is for: the ends of a range, a cell and a metric, as an alert has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from observatory.benchmarks.catalogue import COMPARED, MEMBERS, SCENARIOS, Cell, no_such
from observatory.errors import SelectionError
from observatory.store.base.patterns import chosen
from observatory.store.base.releases import is_release
from observatory.store.records import alerts as alerts_record
from observatory.store.records import layout
from observatory.store.records.alerts import Alert, At, SeriesChange

DEFAULT_METRIC = "cache_misses"
"""What is searched for between two subjects."""
_NAMED = 8
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
    graphs: tuple[str, ...] = ()
    """The only graphs that are built; empty: all of the model."""
    supposed: bool = False
    """Whether it is only supposed that these graphs show the change, as an alert names them."""


def wanted_of(alert: Alert, counted: bool = True) -> Wanted:
    """The last good and the first bad subject of an alert, and the series that moved the most.

    ``counted``: as `searchable_series` has it. Raises SelectionError if no search can follow the
    change.
    """
    series = searchable_series(alert, counted)
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
    cell = Cell(*series.benchmark.split())
    return Wanted(
        _end(series.last_good), _end(series.first_bad), cell, series.metric, ratio,
        graphs=(telling := _telling(alert, cell)), supposed=bool(telling),
    )  # fmt: skip


def _telling(alert: Alert, cell: Cell) -> tuple[str, ...]:
    """The graphs that an alert names; none where they are most of the model, or not all known."""
    members, named = MEMBERS.get(cell.model, ()), tuple(one.name for one in alert.graphs)
    few = 2 * len(named) <= len(members)
    return named if few and set(named) <= set(members) else ()


def wanted_named(
    results: Path, ends: Sequence[str], cell: str, metric: str, otherwise: str = "",
    graphs: Sequence[str] = (), counted: bool = True,
) -> Wanted:  # fmt: skip
    """What a person asks for: by the id of an alert, or by two ends, a cell and a metric.

    ``cell``, ``metric``: of an alert, the only series that may be searched for; empty: any.
    ``otherwise``: what else the command accepts. ``graphs``: the only ones to build, where *
    stands for any text; those that an alert names are taken if none are given. ``counted``: as
    `searchable_series` has it. Raises SelectionError.
    """
    if len(ends) == 1:
        found = of_alert(results, ends[0], counted, cell, metric)
        if graphs:
            found = replace(found, graphs=members_like(found.cell, graphs), supposed=False)
        return found
    if len(ends) != 2:
        raise SelectionError(f"give the id of one alert, or two subjects: GOOD BAD{otherwise}")
    if (metric := metric or DEFAULT_METRIC) not in COMPARED:
        raise SelectionError(no_such("metric", metric, COMPARED))
    words = cell.split()
    if len(words) != 4:
        raise SelectionError(
            f"--cell {cell!r} is not a cell: write its model, scenario, backend and start method, "
            'as in "radon warm_disk NUMBA spawn"'
        )
    good, bad = ends
    return Wanted(good, bad, Cell(*words), metric, graphs=members_like(Cell(*words), graphs))


def members_like(cell: Cell, patterns: Sequence[str]) -> tuple[str, ...]:
    """The graphs of the model that match any of the patterns. Raises SelectionError."""
    members = MEMBERS.get(cell.model, ())
    for pattern in patterns:
        if not chosen(members, [pattern]):
            raise SelectionError(no_such("graph", pattern, members, _NAMED))
    return tuple(chosen(members, patterns))


def of_alert(
    results: Path, name: str, counted: bool = True, cell: str = "", metric: str = ""
) -> Wanted:
    """What the alert whose id begins so wants, of a cell or a metric if one is given.

    Raises SelectionError if there is not exactly one such alert, or no such series in it.
    """
    alert = named_alert(results, name)
    series = [
        one for one in alert.series
        if cell in ("", one.benchmark) and metric in ("", one.metric)
    ]  # fmt: skip
    if not series:
        there = [f"{one.benchmark} {one.metric}" for one in alert.series]
        asked = f"{cell or 'any cell'} {metric or 'any metric'}"
        raise SelectionError(f"of alert {alert.id}, {no_such('series', asked, there, _NAMED)}")
    return wanted_of(alert.model_copy(update={"series": series}), counted)


def named_alert(results: Path, beginning: str) -> Alert:
    """The alert whose id begins so.

    Raises SelectionError if there is not exactly one, and RecordError if there are no results.
    """
    layout.check_there(results)
    file = alerts_record.load(results)
    known: Sequence[Alert] = () if file is None else file.alerts
    matching = [one for one in known if beginning and one.id.startswith(beginning)]
    if len(matching) != 1:
        unresolved = [one for one in known if one.state != "resolved"]
        there = ", ".join(one.id for one in matching or unresolved)
        what = "more than one alert" if matching else "no alert"
        raise SelectionError(
            f"{results / alerts_record.FILE} has {what} with an id that begins with "
            f"{beginning!r}; "
            + (f"choose from {there}" if there else "run `observatory alerts` first")
        )
    return matching[0]


def searchable_series(alert: Alert, counted: bool = True) -> SeriesChange | None:
    """The series that the fewest samples tell: a count before a work, and that before a time.

    ``counted``: whether something counts instructions; else they come after all others.
    """
    found = [
        one for one in alert.series
        if one.kind in _ORDER and one.metric in COMPARED and one.last_good is not None
    ]  # fmt: skip

    def order(one: SeriesChange) -> tuple[bool, int]:
        lacking = not counted and COMPARED[one.metric].measure == "work"
        return lacking, _ORDER.index(one.kind)

    return min(found, key=order, default=None)


def cost(alert: Alert, counted: bool = True) -> tuple[int, float]:
    """The kind of its metric, and about how many seconds a sample takes."""
    series = searchable_series(alert, counted)
    if series is None:
        return len(_ORDER), 0.0
    cell = Cell(*series.benchmark.split())
    known = SCENARIOS.get(cell.scenario)
    seconds = 0.0 if known is None else known.seconds_with(cell.backend)
    if graphs := _telling(alert, cell):
        seconds *= len(graphs) / len(MEMBERS[cell.model])
    return _ORDER.index(series.kind), seconds


def _end(at: At) -> str:
    """A release or else the commit, with its further requirements if it has any."""
    word, _, more = at.label.partition(" ")
    if is_release(word):
        return at.label
    return f"{at.commit} {more}".rstrip() if at.commit.startswith(word) else at.commit
