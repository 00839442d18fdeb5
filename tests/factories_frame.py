"""Synthetic tidy frames, FOR TESTS ONLY: values near those of real runs, none of them measured."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from typing import Any

import pandas as pd

from observatory.analyze.comparison.rules import best_of
from observatory.analyze.frame import COLUMNS
from observatory.benchmarks.catalogue import MATRIX_SCENARIOS, METRICS, Cell, cells, metrics_of
from observatory.dashboard.pages.cell_values import CellValue, Setting

RELEASES = {  # label: (numba, date, warm misses of NUMBA by scenario)
    "2.34.0": ("0.61.2", "2025-10-01", 96),
    "2.35.1": ("0.62.1", "2025-10-21", 103),
    "2.36.0": ("0.62.1", "2025-12-14", 12),
    "2.36.3": ("0.63.1", "2026-01-07", 0),
    "2.37.0": ("0.63.1", "2026-01-22", 0),
    "2.38.0": ("0.64.0", "2026-02-20", 0),
    "2.38.3": ("0.64.0", "2026-03-20", 0),
    "3.0.0": ("0.65.0", "2026-04-09", 0),
    "3.0.7": ("0.65.1", "2026-04-30", 0),
    "3.1.1": ("0.65.1", "2026-05-12", 0),
    "3.1.4": ("0.65.1", "2026-05-28", 0),
    "3.2.0": ("0.66.0", "2026-06-09", 0),
    "3.2.4": ("0.66.0", "2026-06-25", 0),
    "3.3.0": ("0.67.0", "2026-07-10", 0),
    "3.3.4": ("0.67.0", "2026-07-28", 0),
    "3.3.7": ("0.68.0", "2026-08-14", 0),
}
_TIMES = {
    ("cold", "C"): 2.6, ("cold", "C_VM"): 9.6, ("cold", "NUMBA"): 4.2,
    ("warm_disk", "C"): 0.39, ("warm_disk", "C_VM"): 0.41, ("warm_disk", "NUMBA"): 0.71,
    ("warm_process", "C"): 0.16, ("warm_process", "C_VM"): 0.17, ("warm_process", "NUMBA"): 0.25,
    ("warm_process", "NUMBA_OPS_ONLY"): 1.37, ("warm_process", "NUMBA_NO_CACHE"): 4.24,
    ("variants", "NUMBA"): 12.1,
    ("call", "C"): 12.4e-6, ("call", "C_VM"): 21.6e-6, ("call", "C_VM_NOGC"): 16.2e-6,
    ("call", "NUMBA"): 4.9e-6,
}  # fmt: skip
_MISSES = {("cold", "C"): 1, ("cold", "C_VM"): 24, ("cold", "NUMBA"): 35, ("variants", "NUMBA"): 23}


def frame(**changes: Any) -> pd.DataFrame:
    """The whole history in one setting; ``changes`` are given to ``release_rows``."""
    rows: list[dict[str, Any]] = []
    for label in RELEASES:
        rows += release_rows(label, **changes)
    return as_frame(rows)


def as_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows as the tidy frame, all columns there even where there is no row."""
    made = pd.DataFrame(rows, columns=list(COLUMNS))
    return made.assign(date=pd.to_datetime(made["date"], utc=True))


def read(frame: pd.DataFrame, metrics: frozenset[str]) -> tuple[CellValue, ...]:
    """The rows of a frame that speak of ``metrics``, as the site reads them from results."""
    found = []
    for row in frame[frame["metric"].isin(sorted(metrics))].to_dict("records"):
        given = {key: None if pd.isna(value) else value for key, value in row.items()}
        date = given["date"]
        best = best_of(given["metric"], given["scenario"], given["backend"])
        found.append(
            CellValue(
                subject=given["subject"], pytensor=given["pytensor"] or "", numba=given["numba"],
                setting=Setting(given["python"], given["machine"]),
                cell=Cell(*(given[axis] for axis in ("model", "scenario", "backend", "launch"))),
                metric=given["metric"], value=given["value"], n=given["n"], low=given["ci_low"],
                high=given["ci_high"], date=date and date.to_pydatetime(),
                wrong=None if best is None else (given["value"] or 0) > best,
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda r: (r.order, r.cell, r.metric)))


SCENARIOS = tuple(name for name in MATRIX_SCENARIOS if name != "siblings")
"""All of the matrix: pages say of a healthy subject that nothing is missing."""


def _place(cell: Cell) -> tuple[str, str]:
    """Whose values it has; what the catalogue got since is like a warm build."""
    known = {scenario for scenario, _ in _TIMES}
    return cell.scenario if cell.scenario in known else "warm_process", cell.backend


def release_rows(
    label: str, *, python: str = "3.12", machine: str = "bench-2c", subject: str | None = None
) -> list[dict[str, Any]]:
    """All rows of one release, the same for the same arguments."""
    random = Random(f"{label}{python}{machine}")
    rows = []
    for cell in cells(scenarios=SCENARIOS):
        if _place(cell) not in _TIMES:
            continue
        for metric in metrics_of(cell.scenario, cell.launch):
            value = _value(metric.name, cell, label, random)
            if value is None:
                continue
            noisy = metric.kind == "noisy"
            n = (1 if cell.scenario == "cold" and label != "3.3.7" else 3) if noisy else 1
            spread = value * random.uniform(0.01, 0.06) if n > 1 else 0.0
            rows.append(
                row(
                    cell, metric.name, value, n=n, low=value - spread, high=value + spread,
                    subject=subject or label, pytensor=label, numba=RELEASES[label][0],
                    python=python, machine=machine,
                    date=datetime.fromisoformat(RELEASES[label][1]).replace(tzinfo=UTC),
                )
            )  # fmt: skip
    return rows


def row(
    cell: Cell, metric: str, value: float | None, *, n: int = 1, low: float | None = None,
    high: float | None = None, subject: str = "3.3.7", pytensor: str = "3.3.7",
    numba: str | None = "0.68.0", python: str = "3.12", machine: str = "bench-2c",
    date: datetime | None = datetime(2026, 8, 14, tzinfo=UTC),
) -> dict[str, Any]:  # fmt: skip
    """One row; the interval is the value itself unless given."""
    return {
        "subject": subject, "pytensor": pytensor, "numba": numba, "python": python,
        "machine": machine, "model": cell.model, "scenario": cell.scenario,
        "backend": cell.backend, "launch": cell.launch, "metric": metric,
        "unit": METRICS[metric].unit, "kind": METRICS[metric].kind, "value": value, "n": n,
        "ci_low": value if low is None else low, "ci_high": value if high is None else high,
        "date": date,
    }  # fmt: skip


def _value(metric: str, cell: Cell, label: str, random: Random) -> float | None:
    place = _place(cell)
    if metric in ("compile_time", "call_time"):
        return _TIMES[place] * _era(cell, label) * random.uniform(0.95, 1.06)
    if metric == "cache_misses":
        if cell.backend == "NUMBA" and place[0] in ("warm_disk", "warm_process"):
            return RELEASES[label][2]
        if cell.backend in ("NUMBA_OPS_ONLY", "NUMBA_NO_CACHE"):
            return None if cell.backend == "NUMBA_NO_CACHE" else 0
        return _MISSES.get(place, 0)
    return 0.0 if metric in ("wrong_results", "crashed", "uncacheable") else None


def _era(cell: Cell, label: str) -> float:
    """How much slower a release was than the newest."""
    if cell.backend != "NUMBA" or cell.scenario == "call":
        return 1.0
    if label < "2.36":
        return {"cold": 1.7, "warm_disk": 9.2, "warm_process": 18.8}.get(cell.scenario, 3.0)
    return {"2.36.0": 2.6, "2.36.3": 1.95}.get(label, 1.5 if label < "3" else 1.0)
