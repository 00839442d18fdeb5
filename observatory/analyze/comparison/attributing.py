"""Which cause each verdict that got worse has. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from statistics import median

from observatory.analyze.statements import FoundCause, JudgedVerdict
from observatory.benchmarks.catalogue import CAUSES, COSTS, HEADLINE_TIMES, Cell, headline_time
from observatory.store.records.comparison import Verdict

_MOST = 0.5
"""The share of a time's growth from which on a cause that costs as many seconds comes first."""
_LITTLE = 0.1
"""The share of a time's growth up to which a cause that costs no more explains none of it."""

Slowdowns = Mapping[Cell, float]
"""By how many seconds the headline time of a cell grew, where it got worse."""


def slowdowns(verdicts: Sequence[Verdict]) -> Slowdowns:
    """The cells in which builds or calls are slower, each with the seconds."""
    return {
        one.cell: growth(one)
        for one in verdicts
        if one.conclusion == "worse" and one.metric == headline_time(one.cell.scenario)
    }


def costs_little(seconds: float | None, slower: float) -> bool:
    """Whether a cause is too small to explain that a cell is ``slower`` by so many seconds.

    ``seconds``: what it costs; None: nobody measured it.
    """
    return seconds is not None and slower > 0 and seconds <= _LITTLE * slower


def with_causes(
    verdicts: Sequence[JudgedVerdict], causes: Sequence[FoundCause]
) -> list[JudgedVerdict]:
    """The verdicts in their order, those that got worse with the id of their cause.

    ``causes``: in the order in which they are shown; of those that explain a verdict, the first.
    """
    slower = slowdowns(verdicts)
    return [_with_cause(verdict, causes, slower.get(verdict.cell, 0.0)) for verdict in verdicts]


def _with_cause(
    verdict: JudgedVerdict, causes: Collection[FoundCause], slower: float
) -> JudgedVerdict:
    """The verdict with its cause.

    Of a time, that is the first cause that costs at least half of its growth, or else the first
    whose cost nobody measured. A cause that costs next to nothing of what its cell is ``slower``
    explains neither the time nor the work.
    """
    if verdict.conclusion != "worse":
        return verdict
    cell = verdict.cell
    possible = [
        cause
        for cause in causes
        if verdict.metric in CAUSES[cause.kind].explains
        and cell in cause.cells
        and not (verdict.metric in COSTS and costs_little(cause.costs.get(cell), slower))
    ]
    if not possible:
        return verdict
    cause = possible[0]
    if verdict.metric in HEADLINE_TIMES:
        least = _MOST * growth(verdict)
        large = [one for one in possible if one.costs.get(cell, 0.0) >= least]
        unmeasured = [one for one in possible if cell not in one.costs]
        cause = [*large, *unmeasured, cause][0]
    return verdict.model_copy(update={"cause": cause.id})


def growth(verdict: Verdict) -> float:
    """By how much the median grew; 0 where a side has no value."""
    before, after = verdict.base.values, verdict.head.values
    return median(after) - median(before) if before and after else 0.0
