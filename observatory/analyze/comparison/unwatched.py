"""What HEAD measures and BASE does not: no change of it can be seen. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.rules import rule_of
from observatory.analyze.statements import Statement
from observatory.benchmarks.catalogue import Cell, metrics_of


def without_baseline(
    cells: Iterable[Cell], missing: Collection[Cell], base: Evidence, head: Evidence
) -> Iterator[Statement]:
    """The judged metrics of which HEAD has values and BASE has none, those of most cells first.

    ``missing``: cells that are said to be incomplete in BASE anyhow.
    """
    found: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        metrics = metrics_of(cell.scenario, cell.launch, derived=True)
        for metric in () if cell in missing else metrics:
            if (
                rule_of(metric, cell.scenario).judged
                and head.values(cell, metric).values
                and not base.values(cell, metric).values
            ):
                found[metric.name].append(cell)
    together: dict[tuple[Cell, ...], list[str]] = defaultdict(list)
    for name, where in found.items():
        together[tuple(where)].append(name)
    for place, names in sorted(together.items(), key=lambda item: -len(item[0])):
        yield Statement("no baseline", (names, place))
