"""The tidy frame as typed rows: the only module of the dashboard that knows pandas."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from benchmarks.vocabulary import Cell

COLUMNS = (
    "subject", "pytensor", "numba", "python", "machine", "model", "scenario", "backend", "launch",
    "metric", "unit", "kind", "value", "n", "ci_low", "ci_high", "date",
)  # fmt: skip
"""Columns of the tidy frame, in order: one row per subject, cell and metric."""


@dataclass(frozen=True)
class Setting:
    """Where numbers may be compared with each other: one machine, one Python version."""

    python: str
    machine: str

    def __str__(self) -> str:
        return f"Python {self.python} on {self.machine}"


@dataclass(frozen=True)
class Reading:
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

    @property
    def order(self) -> tuple[datetime, tuple[int, ...], bool, str]:
        """Sorts readings along the history: by date, then by version, a plain release last."""
        numbers = tuple(int(digits) for digits in re.findall(r"\d{1,9}", self.pytensor))
        date = self.date or datetime.min.replace(tzinfo=UTC)
        return date, numbers, self.is_plain, self.subject

    @property
    def is_plain(self) -> bool:
        """Whether the subject is a release or commit as it is, without an extra requirement."""
        return " " not in self.subject.strip()


def read(frame: pd.DataFrame, metrics: frozenset[str]) -> tuple[Reading, ...]:
    """Return the rows of ``frame`` that speak of ``metrics``, in the order of the history.

    Raises:
        ValueError: a column of ``COLUMNS`` is not there.

    """
    missing = [column for column in COLUMNS if column not in frame.columns]
    if missing:
        raise ValueError(f"the frame has no column {', '.join(missing)}")
    wanted = frame.loc[frame["metric"].isin(sorted(metrics)), list(COLUMNS)]
    rows = (_reading(dict(zip(COLUMNS, row, strict=True))) for row in wanted.to_numpy(dtype=object))
    return tuple(sorted(rows, key=lambda reading: (reading.order, reading.cell, reading.metric)))


def _reading(row: dict[str, Any]) -> Reading:
    n = _number(row["n"])
    return Reading(
        subject=_word(row["subject"]) or "unnamed",
        pytensor=_word(row["pytensor"]) or "",
        numba=_word(row["numba"]),
        setting=Setting(_word(row["python"]) or "unknown", _word(row["machine"]) or "unknown"),
        cell=Cell(
            *(_word(row[axis]) or "unknown" for axis in ("model", "scenario", "backend", "launch"))
        ),
        metric=str(row["metric"]),
        value=_number(row["value"]),
        n=None if n is None else int(n),
        low=_number(row["ci_low"]),
        high=_number(row["ci_high"]),
        date=_date(row["date"]),
    )


def _word(value: Any) -> str | None:
    return None if pd.isna(value) else str(value)


def _number(value: Any) -> float | None:
    """A finite number, or None: NaN and infinity say that nothing was measured."""
    if pd.isna(value) or value in (float("inf"), float("-inf")):
        return None
    return float(value)


def _date(value: Any) -> datetime | None:
    if pd.isna(value):
        return None
    stamp: datetime = pd.Timestamp(value).to_pydatetime()
    return stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)
