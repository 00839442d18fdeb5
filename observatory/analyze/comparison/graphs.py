"""Samples of many graphs, each built apart: compared graph by graph. Pure.

Two subjects do not have the same graphs: a release lacks an Op, and the model gets new graphs. Only
graphs that both sides have are compared, so that neither is an alarm. And a graph that got worse is
no less an alarm where another one got better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from observatory.analyze.comparison.evidence import Evidence, counts_by_graph
from observatory.analyze.growth.families import OF_SIZES, over_shared_sizes
from observatory.benchmarks.catalogue import (
    METRICS,
    OF_A_CACHE,
    SCENARIOS,
    Cell,
    Metric,
)
from observatory.store.journal.ledgers import tally_of
from observatory.store.records.comparison import GraphChange, Values
from observatory.store.records.sample import Build, Sample, Size

ABSENT = "absent"
_WRONG = METRICS["wrong_results"]
_LONGEST = 300


class ByGraph:
    """One metric of one cell, on two sides."""

    def __init__(self, cell: Cell, metric: Metric, base: Evidence, head: Evidence) -> None:
        self.base: Sequence[Sample] = base.good(cell, metric)
        self.head: Sequence[Sample] = head.good(cell, metric)
        self._metric = metric.name
        old, new = base.graph_counts(cell, metric), head.graph_counts(cell, metric)
        self.sizes_lost: tuple[Size, ...] = ()
        """The smallest size of each family that HEAD ended and BASE built, where it may matter."""
        if metric.name in OF_SIZES:
            built = over_shared_sizes(self.base, self.head)
            if built[0] is not self.base:
                self.base, self.head, lost = built
                self.sizes_lost = tuple(one for one in lost if one.family in old)
                old, new = (counts_by_graph(side, metric) for side in built[:2])
        self.counted = bool(old or new or self.sizes_lost)
        """Whether the samples count this metric graph by graph."""
        common = old.keys() & new.keys()
        known, won = common, common
        if metric.name in OF_A_CACHE:
            # What no cache ever returned cannot be lost, and what it returns now can be won.
            known = common & base.found_in_cache(cell)
            # Nor what the process that filled the cache did not store, because it ended.
            known -= _unbuilt(cell, head)
            won = common & head.found_in_cache(cell)
        elif metric.name in ("python_fallbacks", "keys_missing"):
            # Nor what ran in Python before, or had no key. A rewrite that replaces an Op in Python
            # by two others in Python has taken nothing away.
            known = {name for name in common if not max(old[name])}
        fewer = known | {name for name in won if max(new[name]) <= max(old[name])}
        # A value that is wrong in one sample is wrong. Other counts must be higher in all of them.
        least = max if metric.even_if_same else min
        allowed = 1 + (metric.material or 0.0)
        self.worse = frozenset(n for n in known if least(new[n]) > max(old[n]) * allowed)
        """The graphs that got worse by more than the floor of the metric."""
        self.compared = self.worse or frozenset(fewer)
        """The graphs whose counts are the values of the two sides."""

    def values(self) -> tuple[Values, Values]:
        """The values of BASE and HEAD: sums over the compared graphs, empty if there are none."""
        sides = self.base, self.head
        old, new = ([count_of(self._metric, s, self.compared) for s in side] for side in sides)
        return Values(values=old if self.compared else []), Values(
            values=new if self.compared else []
        )

    def changes(self) -> list[GraphChange]:
        """The graphs that got worse, each with what its build says."""
        before = {step.name: step for sample in self.base for step in sample.steps}
        found = {
            step.name: GraphChange(
                name=step.name, note=_note(self._metric, before.get(step.name), step)
            )
            for sample in self.head
            for step in sample.steps
            if step.name in self.worse
        }
        return [found[name] for name in sorted(found)]


def by_graph(cell: Cell, metric: Metric, base: Evidence, head: Evidence) -> ByGraph | None:
    """The graphs of a cell that builds many apart, compared; None where one count is of all."""
    if not SCENARIOS[cell.scenario].apart:
        return None
    found = ByGraph(cell, metric, base, head)
    return found if found.counted else None


def wrong_graphs(cell: Cell, side: Evidence) -> dict[str, GraphChange | None]:
    """The graphs of a cell that builds many apart and checks them, with what the wrong ones say."""
    found: dict[str, GraphChange | None] = {}
    for step in chain.from_iterable(one.steps for one in side.good(cell, _WRONG)):
        if _WRONG.name in step.metrics:
            known = found.setdefault(step.name, None)
            if step.metrics[_WRONG.name] and known is None:
                found[step.name] = GraphChange(name=step.name, note=_note(_WRONG.name, None, step))
    return found


def count_of(metric: str, sample: Sample, names: Collection[str]) -> float:
    """The sum of a metric over some graphs of a sample."""
    return float(sum(s.metrics.get(metric, 0) for s in sample.steps if s.name in names))


def count_in(cell: Cell, metric: Metric, side: Evidence, names: Collection[str]) -> float | None:
    """The highest sum over those of some graphs that a subject has; None if it has none of them."""
    there = [
        sample
        for sample in side.good(cell, metric)
        if any(step.name in names and metric.name in step.metrics for step in sample.steps)
    ]
    return max((count_of(metric.name, sample, names) for sample in there), default=None)


def same_graphs(cell: Cell, base: Evidence, head: Evidence) -> bool:
    """Whether both sides have built the same graphs with the same result.

    Only then can sums over all be compared: what a process leaves behind follows from what it
    compiles and loads.
    """
    return _results(cell, base) == _results(cell, head)


def _unbuilt(cell: Cell, side: Evidence) -> set[str]:
    """The graphs that the process which filled the cache of a cell could not build."""
    filler = SCENARIOS[cell.scenario].filled_by
    samples = side.taken(replace(cell, scenario=filler), "counting") if filler else ()
    return {step.name for sample in samples for step in sample.steps if step.status != "ok"}


def _results(cell: Cell, side: Evidence) -> tuple[set[tuple[object, ...]], Counter[object]]:
    """What became of each graph of a subject, and how many functions each has, by outcome."""
    graphs: set[tuple[object, ...]] = {
        (step.name, step.status, *map(step.metrics.get, OF_A_CACHE))
        for sample in side.taken(cell, "counting")
        for step in sample.steps
        if step.status != ABSENT
    }
    functions: Counter[object] = Counter()
    for (step, _, outcome), number in tally_of(side.ledger(cell) or ()).items():
        functions[step, outcome] += number
    return graphs, functions


def _note(metric: str, before: Build | None, after: Build) -> str:
    """What the build of a graph says: the first line of its note, or the Ops new in Python.

    Of a step that compiles more functions: who asks for those that it did not compile before.
    """
    if metric == "graphs_compiled":
        more = Counter(after.compiled) - Counter(before.compiled if before else ())
        return ", ".join(
            name if number == 1 else f"{name} ({number})" for name, number in sorted(more.items())
        )[:_LONGEST]
    if after.note:
        return next(_lines(after.note), "")[:_LONGEST]
    known = set(before.in_python if before else ())
    return ", ".join(dict.fromkeys(op for op in after.in_python if op not in known))[:_LONGEST]


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.strip())
