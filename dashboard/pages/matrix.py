"""The matrix of one subject: rows are scenario x backend, columns are launches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from observatory.benchmarks.catalogue import (
    ABLATIONS,
    BACKENDS,
    LAUNCHES,
    MAIN_BACKENDS,
    MATRIX_MODELS,
    MATRIX_SCENARIOS,
    MODELS,
    SCENARIOS,
    Cell,
    cells,
    headline_time,
    metrics_of,
)
from observatory.dashboard.colours import css_name
from observatory.dashboard.pages.cell_values import CellValue, Flag, unasked
from observatory.dashboard.pages.summary import Newest
from observatory.text import units
from observatory.text.words import SHOWN_METRICS, known_first, meaning_of, several

SHOWN_IN_CELLS = frozenset({*SHOWN_METRICS, "functions_compiled"})
"""The metrics of which a cell of the matrix tells something."""

_ALARMS = {
    "wrong_results": "{results}", "crashed": "crashed", "uncacheable": "{count} uncacheable",
}  # fmt: skip


@dataclass(frozen=True)
class CellView:
    """What one place of the matrix shows: its time, then its flags."""

    time: str | None
    no_time: str
    detail: str
    bar: float
    """Time as a part of the longest in the same scenario, 0 to 1."""
    misses: Flag
    alarms: tuple[Flag, ...]
    work: str = ""
    """The instructions of the same span; empty if they were not counted."""


@dataclass(frozen=True)
class BackendRow:
    """One backend of a scenario."""

    backend: str
    css: str
    secondary: bool
    cells: tuple[CellView, ...]


@dataclass(frozen=True)
class Group:
    """One scenario."""

    scenario: str
    meaning: str
    metric: str
    rows: tuple[BackendRow, ...]


@dataclass(frozen=True)
class Matrix:
    """All that was measured of one model."""

    model: str
    meaning: str
    launches: tuple[str, ...]
    groups: tuple[Group, ...]
    not_measured: str


def matrices(subject: Newest) -> tuple[Matrix, ...]:
    """One matrix for every model that the subject was measured with, in the vocabulary's order.

    What siblings and upgrades did to each other is on the page Wrong answers.
    """
    models = known_first(
        {r.cell.model for r in subject.cell_values if _is_shown(r.cell)}, MATRIX_MODELS
    )
    return tuple(_matrix(model, subject) for model in models)


def _matrix(model: str, subject: Newest) -> Matrix:
    own = {
        (r.cell, r.metric): r
        for r in subject.cell_values
        if r.cell.model == model and _is_shown(r.cell)
    }
    seen = {cell for cell, _ in own}
    launches = known_first((cell.launch for cell in seen), LAUNCHES)
    scenarios = known_first((cell.scenario for cell in seen), MATRIX_SCENARIOS)
    possible = [s for s in MATRIX_SCENARIOS if any(cells((model,), (s,)))]
    left = [scenario for scenario in possible if scenario not in scenarios]
    groups = tuple(_group(model, scenario, launches, own) for scenario in scenarios)
    note = f"Not measured here: {', '.join(left)}." if left else ""
    return Matrix(model, meaning_of(MODELS, model), tuple(launches), groups, note)


def _is_shown(cell: Cell) -> bool:
    small = set(MODELS) - set(MATRIX_MODELS)
    return cell.model not in small and cell.scenario not in set(SCENARIOS) - set(MATRIX_SCENARIOS)


def _group(
    model: str, scenario: str, launches: list[str], own: dict[tuple[Cell, str], CellValue]
) -> Group:
    metric = headline_time(scenario)
    found = {cell.backend for cell, _ in own if cell.scenario == scenario}
    backends = known_first(found | set(MAIN_BACKENDS), BACKENDS)
    # Ablations explain the main backends: after them, whatever else was found.
    backends.sort(key=lambda backend: backend in ABLATIONS)
    times = [
        one.value or 0.0
        for (cell, name), one in own.items()
        if cell.scenario == scenario and name == metric
    ]
    longest = max(times, default=0.0)
    rows = []
    for backend in backends:
        cells = [Cell(model, scenario, backend, launch) for launch in launches]
        views = tuple(_cell_view(cell, metric, longest, own) for cell in cells)
        rows.append(BackendRow(backend, css_name(backend), backend in ABLATIONS, views))
    return Group(scenario, meaning_of(SCENARIOS, scenario), metric, tuple(rows))


def _cell_view(
    cell: Cell, metric: str, longest: float, own: dict[tuple[Cell, str], CellValue]
) -> CellView:
    alarms = tuple(_alarms(own, cell))
    time, misses = own.get((cell, metric)), _misses(cell, own)
    work = _work(own.get((cell, "instructions")))
    if time is None or time.value is None:
        return CellView(None, _why_no_time(cell, metric, own), "", 0.0, misses, alarms, work)
    part = round(time.value / longest if longest > 0 else 0.0, 4)
    return CellView(units.seconds(time.value), "", _detail(time), part, misses, alarms, work)


def _work(one: CellValue | None) -> str:
    return "" if one is None or one.value is None else f"{units.count(one.value)} instructions"


def _why_no_time(cell: Cell, metric: str, own: dict[tuple[Cell, str], CellValue]) -> str:
    crashed = own.get((cell, "crashed"))
    if crashed and crashed.value:
        return "no time"
    if not any(each == cell for each, _ in own):
        return "not measured"
    if cell.scenario in SCENARIOS and metric not in {
        each.name for each in metrics_of(cell.scenario, cell.launch)
    }:
        return "counted, not timed"
    return "no time recorded"


def _detail(one: CellValue) -> str:
    samples = f"n\u00a0=\u00a0{one.n}" if one.n else ""
    if one.low is None or one.high is None or one.low == one.high:
        return samples
    interval = f"{units.seconds(one.low)} to {units.seconds(one.high)}"
    return f"{interval}, {samples}" if samples else interval


def _misses(cell: Cell, own: dict[tuple[Cell, str], CellValue]) -> Flag:
    one, compiled = own.get((cell, "cache_misses")), own.get((cell, "functions_compiled"))
    if one is None or one.value is None:
        return Flag("not counted", "absent")
    if number := unasked(cell, one, compiled, own.get((cell, "uncacheable"))):
        return Flag(f"{number:,.0f} compiled without a lookup", "plain")
    if one.wrong is None:
        return Flag(f"{one.value:,.0f}", "plain")
    return Flag(f"{one.value:,.0f} missed", "bad", "✗") if one.wrong else Flag("0", "good", "✓")


def _alarms(own: dict[tuple[Cell, str], CellValue], cell: Cell) -> Iterator[Flag]:
    for metric, words in _ALARMS.items():
        one = own.get((cell, metric))
        if one and one.wrong and one.value:
            count = several(one.value, "wrong result")
            yield Flag(words.format(results=count, count=f"{one.value:,.0f}"), "bad", "✗")
