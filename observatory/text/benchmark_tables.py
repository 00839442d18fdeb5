"""Tables of the benchmarks of other projects, which measure with asv or pytest-benchmark. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from observatory.text import units
from observatory.text.plain import clean
from observatory.text.tables import Table, labels_of
from observatory.text.words import shared_prefix

_WHERE = ["machine", "python"]
_NARROW = 0.001
"""Relative reach of an interval below which it is not worth its room."""


def of_others(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that are of no cell of ours."""
    return frame[frame["backend"] == ""]


def benchmark_tables(frame: pd.DataFrame, names: Sequence[str]) -> list[Table]:
    """A row for each benchmark and a column for each subject; of two, what lies between them.

    One table for each machine and Python. Raises SelectionError if a subject is not there.
    """
    subjects = labels_of(frame, names)
    rows = frame[frame["subject"].isin(subjects)]
    return [_table(part, subjects) for _, part in rows.groupby(_WHERE, sort=False)]


def _table(part: pd.DataFrame, subjects: Sequence[str]) -> Table:
    there = set(part["subject"])
    shown = [one for one in subjects if one in there]
    metrics = part["metric"].nunique() > 1
    values = {
        (row["scenario"], row["metric"], row["subject"]): row for row in part.to_dict("records")
    }
    rows = []
    prefix = shared_prefix(part["scenario"])
    for benchmark, metric in sorted({key[:2] for key in values}):
        found = [values.get((benchmark, metric, one)) for one in shown]
        texts = [units.MISSING if one is None else _text(one) for one in found]
        between = [_between(*found)] if len(shown) == 2 else []
        words = [clean(benchmark.removeprefix(prefix)), *([clean(metric)] if metrics else [])]
        rows.append((*words, *texts, *between))
    header = ["benchmark", *(["metric"] if metrics else []), *map(clean, shown)]
    first = part.iloc[0]
    of = f"{clean(prefix)}*, " if prefix else ""
    title = f"{of}Python {clean(first['python'])}, on {clean(first['machine'])}: higher is worse"
    return Table(
        title, (*header, *(["change"] if len(shown) == 2 else [])), tuple(rows),
        tuple(_footnotes(part)),
    )  # fmt: skip


def _text(row: dict[Any, Any]) -> str:
    """The value, and how far its interval reaches, relative to it."""
    value, low, high = (float(row[name]) for name in ("value", "ci_low", "ci_high"))
    said = units.human(value, str(row["unit"]))
    reach = max(value - low, high - value) / value if value > 0 and high >= low else 0.0
    return f"{said} ±{units.percent(reach)}" if reach >= _NARROW else said


def _between(old: dict[Any, Any] | None, new: dict[Any, Any] | None) -> str:
    if old is None or new is None:
        return units.MISSING
    return units.effect(float(old["value"]), float(new["value"]), str(new["unit"]))


def _footnotes(part: pd.DataFrame) -> list[str]:
    notes = []
    rounds = part.loc[part["n"] > 1, "n"]
    if len(rounds):
        low, high = units.count(int(rounds.min())), units.count(int(rounds.max()))
        many = low if low == high else f"{low} to {high}"
        notes.append(f"each value is the median of {many} rounds (samples) of one run")
    if part["ci_low"].notna().any():
        notes.append(
            f"±: asv's 99 % interval of the median, from these rounds alone, if not below "
            f"{units.percent(_NARROW)}"
        )
    if part["subject"].nunique() == 2:
        notes.append("a change is no verdict: `observatory compare DIR:BASE DIR:HEAD` gives one")
    return notes
