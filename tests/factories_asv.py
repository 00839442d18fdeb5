"""Result files of other projects, FOR TESTS ONLY, and what was read of them in plain words."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

from observatory.store.asv.columns import Columns, Series
from observatory.store.reading.read import Results

COLUMNS = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a",
           "stats_ci_99_b", "stats_q_25", "stats_q_75", "stats_number", "stats_repeat",
           "samples", "profile"]  # fmt: skip
COMMIT = "c0ffee" + "0" * 34


class Value(NamedTuple):
    """One value that was read; None where the file does not tell."""

    name: str
    params: tuple[str, ...]
    value: float
    n: int | None = None
    ci_low: float | None = None
    ci_high: float | None = None


def foreign(rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A result file of format 2; ``rows`` are lists in the order of COLUMNS."""
    fields = {
        "commit_hash": COMMIT,
        "env_name": "virtualenv-py3.12",
        "date": 1_700_000_000_000,
        "params": {"machine": "ci", "python": "3.12"},
        "python": "3.12",
        "requirements": {},
        "env_vars": {},
        "result_columns": COLUMNS,
        "results": rows,
        "durations": {},
        "version": 2,
    }
    return fields | changes


def row(**cells: Any) -> list[Any]:
    """A row of format 2 from its cells by column."""
    return [cells.get(name) for name in COLUMNS]


def old(results: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A result file of format 1."""
    fields = {
        "commit_hash": COMMIT,
        "env_name": "conda-py3.6-numpy",
        "date": 1_500_000_000_000,
        "params": {"machine": "ci", "python": "3.6", "numpy": "", "ram": None},
        "python": "3.6",
        "requirements": {"numpy": ""},
        "results": results,
        "profiles": {},
        "started_at": {},
        "ended_at": {},
        "benchmark_version": {},
        "version": 1,
    }
    return fields | changes


def put(results: Path, content: dict[str, Any] | str, name: str = "c0ffee00-x.json") -> Path:
    """Write a file of the machine ``ci``."""
    path = results / "ci" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def listed(columns: Columns, series: list[Series]) -> list[Value]:
    """Columns as values, in their order."""
    plain = zip(*(array.tolist() for array in columns.arrays()), strict=True)
    return [
        Value(series[number].name, series[number].combination(position), value, n or None,
              *(None if math.isnan(end) else end for end in (low, high)))
        for number, position, value, n, low, high in plain
    ]  # fmt: skip


def values(results: Results) -> list[Value]:
    """All values that were read."""
    return listed(results.values, list(results.series))
