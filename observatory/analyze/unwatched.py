"""What is measured and compared with nothing, so that no change of it can be seen. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from benchmarks.catalogue import Cell, metrics_of
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.rules import rule_at, rule_of
from observatory.analyze.history.series import Series
from observatory.analyze.statements import Statement


def without_baseline(
    cells: Iterable[Cell], missing: Collection[Cell], base: Evidence, head: Evidence
) -> Iterator[Statement]:
    """The judged metrics of which HEAD has values and BASE has none, those of most cells first.

    ``missing``: cells that are said to be incomplete in BASE anyhow.
    """
    found: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        for metric in () if cell in missing else metrics_of(cell.scenario, cell.launch):
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


def names_of(new: Sequence[Series], every: Iterable[Series]) -> tuple[str, ...]:
    """Benchmarks of which all judged series are in ``new``; of others, the metrics as well."""
    alone = {id(one) for one in new}
    known = {(one.line.name, one.benchmark) for one in every
             if id(one) not in alone and rule_at(one.place).judged}  # fmt: skip
    return tuple(
        dict.fromkeys(
            f"{one.place.metric} of {one.benchmark}"
            if (one.line.name, one.benchmark) in known
            else one.benchmark
            for one in new
        )
    )


def without_history(series: Sequence[Series]) -> list[Series]:
    """The judged series whose only value is that of the newest subject."""
    values = Counter[tuple[str, ...]]()
    for one in series:
        values[one.key] += len(one.values)
    return [
        one
        for one in series
        if values[one.key] == 1
        and one.at[-1] == len(one.line.subjects) - 1
        and rule_at(one.place).judged
    ]
