"""What only one side measures: no change of it can be seen. Pure.

What only HEAD has may be new, which is a warning. What only BASE has is lost, so that its cell is
not compared in full, unless another Python or numba of HEAD excuses it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.rules import ONCE, rule_of
from observatory.analyze.comparison.verdicts import IncompleteCell
from observatory.analyze.statements import Statement
from observatory.benchmarks.catalogue import Cell, Metric, metrics_of


def without_baseline(
    cells: Iterable[Cell], missing: Collection[Cell], base: Evidence, head: Evidence
) -> Iterator[Statement]:
    """The judged metrics of which HEAD has values and BASE has none, those of most cells first.

    ``missing``: cells that are said to be incomplete in BASE anyhow.
    """
    for names, place in _together(cells, missing, head, base):
        yield Statement("no baseline", (names, place))


def without_successor(
    cells: Iterable[Cell], missing: Collection[Cell], base: Evidence, head: Evidence
) -> Iterator[Statement]:
    """The judged metrics of which BASE has values and HEAD has none, those of most cells first.

    ``missing``: cells that are said to be incomplete in HEAD anyhow, as those that `lost` names.
    What is left are metrics that HEAD cannot have, and cells that are incomplete in BASE.
    """
    for names, place in _together(cells, missing, base, head):
        yield Statement("no successor", (names, place))


def lost(
    cells: Iterable[Cell],
    missing: Collection[Cell],
    base: Evidence,
    head: Evidence,
    excused: Collection[str],
) -> Iterator[IncompleteCell]:
    """The cells in which BASE has values of a judged metric and HEAD has none, with the reasons.

    ``missing``: cells that are said to be incomplete anyhow. ``excused``: the metrics that HEAD
    cannot have.
    """
    for cell, metrics in _only_of(cells, missing, base, head).items():
        by_reason: dict[str, list[str]] = defaultdict(list)
        for metric in metrics:
            if metric.name not in excused:
                by_reason[_why_absent(cell, metric, head)].append(metric.name)
        if not by_reason:
            continue
        reasons = [Statement("no value", (names, why)) for why, names in by_reason.items()]
        yield IncompleteCell(cell, "head", tuple(reasons))


def _together(
    cells: Iterable[Cell], missing: Collection[Cell], side: Evidence, other: Evidence
) -> Iterator[tuple[Sequence[str], Sequence[Cell]]]:
    """The names of metrics that only one side has, with their cells, those of most cells first."""
    where: dict[str, list[Cell]] = defaultdict(list)
    for cell, metrics in _only_of(cells, missing, side, other).items():
        for metric in metrics:
            where[metric.name].append(cell)
    together: dict[tuple[Cell, ...], list[str]] = defaultdict(list)
    for name, own in where.items():
        together[tuple(own)].append(name)
    for place, names in sorted(together.items(), key=lambda item: -len(item[0])):
        yield names, place


def _only_of(
    cells: Iterable[Cell], missing: Collection[Cell], side: Evidence, other: Evidence
) -> dict[Cell, list[Metric]]:
    """The judged metrics of which one side has values and the other has none, by cell.

    A metric that is judged once for a model has a value if any of its cells has one.
    """
    every = list(cells)
    found: dict[Cell, list[Metric]] = defaultdict(list)
    for cell in every:
        metrics = metrics_of(cell.scenario, cell.launch, derived=True)
        for metric in () if cell in missing else metrics:
            once = metric.name in ONCE
            places = [one for one in every if one.model == cell.model] if once else [cell]
            if (
                side.values(cell, metric).values
                and not any(other.values(place, metric).values for place in places)
                and rule_of(metric, cell.scenario).judged
            ):
                found[cell].append(metric)
    return found


def _why_absent(cell: Cell, metric: Metric, side: Evidence) -> str:
    """Why the newest sample that should have a metric has none; empty if it does not say."""
    reasons = [one.absent[metric.name] for one in side.taken(cell) if metric.name in one.absent]
    return reasons[-1] if reasons else ""
