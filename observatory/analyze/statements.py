"""What the analysis concludes beside numbers, as values. `observatory.text` puts it in words.

A statement has a kind and the values that its sentence needs; `observatory.text.statements` lists
them for each kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import Field

from benchmarks.catalogue import Cell
from observatory.store.records.comparison import CauseKind, FunctionChange, Verdict
from observatory.store.records.sample import Check

Kind = Literal[
    # Why something was not judged or not measured
    "not deterministic", "same in both", "no time", "no ratio", "too few processes",
    "interval too wide", "other CPU", "other workload", "not measured", "unavailable",
    "recorded message", "samples failed", "described", "too few subjects", "no ratio of levels",
    # What to keep in mind when reading a comparison
    "CPUs differ", "measured apart", "not calibrated", "calibrated elsewhere",
    # What happened along a history
    "cause began", "count fell", "level changed", "run failed", "run late",
    "environment changed", "environments alternate",
    # What became of an alert
    "over since", "part of", "measured again", "fails no more", "withdrawn", "series gone",
    "subject gone", "series ended",
]  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """One thing to tell a reader."""

    kind: Kind
    values: tuple[Any, ...] = ()


class JudgedVerdict(Verdict):
    """A verdict whose reason is a statement; the field ``reason`` of the record stays empty."""

    because: Statement | None = Field(None, exclude=True)


class Sides(NamedTuple):
    """What the two sides of a comparison are called."""

    base: str = "BASE"
    head: str = "HEAD"


@dataclass(frozen=True)
class FoundCause:
    """One reason for one or more verdicts, as `observatory.store.records.comparison.Cause`."""

    id: str
    kind: CauseKind
    cells: list[Cell]
    functions: list[FunctionChange]
    seconds_lost: float
    family: tuple[str, ...]
    """What distinguishes causes of one kind: the cache, the error's text, or two defaults."""
    wrong: list[Check]
    """The checks that failed, of wrong results."""
