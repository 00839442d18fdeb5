"""Values that were wrong when they were first checked: they have no last good subject. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from observatory.analyze.comparison.causes import wrong_results
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.graphs import count_in, wrong_graphs
from observatory.analyze.history.followed import (
    Counted,
    CountedSubject,
    FollowedChange,
    FollowedSeries,
    History,
)
from observatory.analyze.statements import Occurrence, Sides, Statement, id_of
from observatory.benchmarks.catalogue import METRICS, Cell
from observatory.store.records.alerts import Change, SeriesChange, series_id
from observatory.store.records.comparison import GraphChange

_WRONG = METRICS["wrong_results"]


def wrong_from_the_first(
    history: History, head: CountedSubject, checked: set[tuple[Cell, str]]
) -> Iterator[FollowedChange]:
    """What is wrong in a subject and was never checked before, a change for each backend.

    ``checked``: the graphs that were, which are added to; the name is empty where a cell is one.
    """
    wrong: dict[str, dict[Cell, list[GraphChange]]] = {}
    for cell in sorted(head.evidence.cells):
        values = head.evidence.values(cell, _WRONG).values
        if cell.problem() is not None or not values:
            continue
        graphs = wrong_graphs(cell, head.evidence)
        new = [name for name in graphs or [""] if (cell, name) not in checked]
        checked.update((cell, name) for name in new)
        found = [one for name in new if (one := graphs.get(name))]
        if found or ("" in new and max(values)):
            wrong.setdefault(cell.backend, {})[cell] = found
    for backend, cells in wrong.items():
        series = [_first_wrong(history, head, cell, graphs) for cell, graphs in cells.items()]
        cause = wrong_results(cells, head.evidence)
        sides, counts = Sides("", head.at.label), [one.change for one in series]
        change = Change(
            id=id_of(cause.kind, head.at.commit, backend, "from the first"), kind=cause.kind,
            sentence="", last_good=None, first_bad=head.at, between=0, graphs=cause.graphs,
        )  # fmt: skip
        statement = Statement("cause began", ([backend], cause, sides, counts, []))
        yield FollowedChange(Occurrence(change, True, statement), series, [])


def _first_wrong(
    history: History, head: CountedSubject, cell: Cell, graphs: Sequence[GraphChange]
) -> FollowedSeries:
    names = {one.name for one in graphs}

    def count(evidence: Evidence) -> Counted | None:
        if names:
            value = count_in(cell, _WRONG, evidence, names)
        else:
            value = max(evidence.values(cell, _WRONG).values, default=None)
        return None if value is None else Counted(value, value > 0)

    machine, env_name, benchmark, metric = series_id(
        history.machine, history.env_name, str(cell), _WRONG.name
    )
    first = count(head.evidence)
    after = first.value if first else 0.0
    return FollowedSeries(cell, SeriesChange(
        machine=machine, env_name=env_name, benchmark=benchmark, metric=metric, unit=_WRONG.unit,
        kind="exact", before=0.0, after=after, now=after, last_good=None, first_bad=head.at,
        newest=head.at, holds=True,
    ), count)  # fmt: skip
