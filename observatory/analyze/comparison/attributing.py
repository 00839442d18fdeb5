"""Which cause each verdict that got worse has. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from observatory.analyze.comparison.unexplained_times import WAITS
from observatory.analyze.statements import FoundCause, JudgedVerdict
from observatory.benchmarks.catalogue import CAUSES, Cell
from observatory.store.records.comparison import Verdict

_COSTS = 0.5
"""The share of a time's growth from which on a cause that costs as many seconds explains it."""


def with_causes(
    verdicts: Sequence[JudgedVerdict], causes: Sequence[FoundCause]
) -> list[JudgedVerdict]:
    """The verdicts in their order, those that got worse with the id of their cause.

    ``causes``: in the order in which they are shown; of those that explain a verdict, the first.
    """
    slept = {one.cell: _growth(one) for one in verdicts if one.metric == "seconds_slept"}
    return [_with_cause(verdict, causes, slept) for verdict in verdicts]


def _with_cause(
    verdict: JudgedVerdict, causes: Iterable[FoundCause], slept: Mapping[Cell, float]
) -> JudgedVerdict:
    """The verdict with its cause: of a time, the first that costs at least half of its growth.

    ``slept``: the additional seconds of sleep by cell.
    """
    if verdict.conclusion != "worse":
        return verdict
    possible = [
        cause
        for cause in causes
        if verdict.metric in CAUSES[cause.kind].explains and verdict.cell in cause.cells
    ]
    if not possible:
        return verdict
    cause = possible[0]
    if verdict.metric in CAUSES[WAITS].shows_in:  # a time
        least = _COSTS * _growth(verdict)
        costs = {
            one.id: slept.get(verdict.cell, 0.0) if one.kind == "sleeps" else one.seconds_lost
            for one in possible
        }
        cause = next((one for one in possible if costs[one.id] >= least), cause)
    return verdict.model_copy(update={"cause": cause.id})


def _growth(verdict: Verdict) -> float:
    """By how much the median grew; 0 where a side has no value."""
    before, after = verdict.base.values, verdict.head.values
    return median(after) - median(before) if before and after else 0.0
