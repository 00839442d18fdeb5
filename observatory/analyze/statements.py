"""What the analysis concludes beside numbers, as values. `observatory.text` puts it in words.

A statement has a kind and the values that its sentence needs; `observatory.text.statements` lists
them for each kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from pydantic import Field

from observatory.benchmarks.catalogue import Cell
from observatory.store.records.alerts import At, Change
from observatory.store.records.comparison import (
    CauseKind,
    FunctionChange,
    GraphChange,
    Verdict,
)
from observatory.store.records.sample import Check

Kind = Literal[
    # Why something was not judged or not measured
    "not deterministic", "same in both", "no time", "no ratio", "counted apart", "counted once",
    "too few processes", "interval too wide", "may be chance", "other CPU", "other speed",
    "other workload", "instructions not counted", "not measured", "unavailable", "recorded message",
    "samples failed", "described", "compared", "in a row", "counted more", "not in turn",
    "too few subjects", "no ratio of levels", "no baseline", "no successor",
    "no value", "no earlier value", "other graphs", "size ended",
    # Where the additional work or time of a build begins, and what grew in a calm whole
    "work began", "time began", "memory began", "passes ran", "part grew", "parts grew",
    "phase grew",
    "imports more",
    # What to keep in mind when reading a comparison
    "CPUs differ", "times moved alike", "times moved alike in between", "measured apart",
    "not calibrated", "calibrated elsewhere", "partly calibrated",
    # What happened along a history
    "cause began", "count changed", "level changed", "work changed", "losses added up",
    "worse under faults", "worse with other settings",
    "run failed", "run late", "environment changed", "environments alternate",
    # What became of an alert
    "over since", "part of", "small now", "measured again", "fails no more", "withdrawn",
    "counts no more",
    "series gone", "subject gone", "series ended", "no run there", "records gone",
    "unread",
]  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """One thing that a reader must know: its kind, and the values of its sentence in order."""

    kind: Kind
    values: tuple[Any, ...] = ()


class JudgedVerdict(Verdict):
    """A verdict whose reason is a statement; the field ``reason`` of the record stays empty."""

    because: Statement | None = Field(None, exclude=True)


class Sides(NamedTuple):
    """What the two sides of a comparison are called."""

    base: str = "BASE"
    head: str = "HEAD"


class Loss(NamedTuple):
    """One of many changes that add up: the subject, the ratio, whether a person accepted it."""

    label: str
    ratio: float
    accepted: bool


@dataclass(frozen=True)
class FoundCause:
    """One reason for one or more verdicts, as `observatory.store.records.comparison.Cause`."""

    id: str
    kind: CauseKind
    cells: list[Cell]
    functions: list[FunctionChange]
    costs: Mapping[Cell, float]
    """The seconds that it costs, by cell; a cell in which nobody measured it is absent."""
    family: tuple[str, ...]
    """What distinguishes causes of one kind: the cache, the error's text, or two defaults."""
    wrong: list[Check]
    """The checks that failed, of wrong results."""
    graphs: list[GraphChange] = field(default_factory=list)
    """The graphs that it concerns, of models whose graphs are built apart."""
    more: int = 0
    """How many it concerns in its worst cell, where they have no names; 0: nobody knows."""
    sure: bool = True
    """Whether all that its sentence says is known in each of its cells."""

    @property
    def seconds_lost(self) -> float:
        """What it costs in its worst cell."""
        return max(self.costs.values(), default=0.0)


@dataclass(frozen=True)
class Occurrence:
    """A change that was found. The sentence of its record is empty: ``statement`` has its values.

    ``recovered``: the subject by which it was over, if it is.
    """

    change: Change
    worse: bool
    statement: Statement
    recovered: At | None = None

    def renamed(self, id_: str) -> Occurrence:
        """The same change under the id that it had before."""
        return replace(self, change=self.change.model_copy(update={"id": id_}))


def over_by(recovered: Sequence[At | None]) -> At | None:
    """The subject by which all are over; None as long as one is not, or if there is none."""
    done = [at for at in recovered if at is not None]
    return max(done, key=lambda at: at.date) if done and len(done) == len(recovered) else None


def id_of(*words: str) -> str:
    """A short id that depends only on these words."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:10]
