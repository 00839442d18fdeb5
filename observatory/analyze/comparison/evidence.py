"""The samples of one side of a comparison, by cell and pass. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from observatory.analyze.growth.families import with_judged_counts
from observatory.benchmarks.catalogue import CORRECTNESS, Cell, Measure, Metric
from observatory.benchmarks.plan import PASSES
from observatory.store.journal.ledgers import tally_of
from observatory.store.journal.values import failed, source_of, values_of
from observatory.store.records.comparison import Values
from observatory.store.records.sample import LedgerEntry, Sample

_SANDBOX = re.compile(r"[^\s'\"]*observatory-sandbox-[^\s'\"/]*")
_PROCESS = re.compile(r"^(the process that fills the cache|sibling [^:]{1,80}): ")
_LONGEST = 1000

_CELLS: dict[Cell, Cell] = {}
"""One object for equal cells of all sides: dictionaries find it without comparing fields."""


@dataclass
class Evidence:
    """The samples of one side, in the order taken. Counting samples carry their ledger."""

    samples: list[Sample] = field(default_factory=list)
    _by_place: dict[tuple[Cell, Measure], list[Sample]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _values: dict[tuple[Cell, str], Values] = field(default_factory=dict)
    _counts: dict[tuple[Cell, str], Mapping[str, Sequence[float]]] = field(default_factory=dict)
    _found: dict[Cell, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> Evidence:
        """Evidence from complete samples."""
        made = cls()
        for sample in samples:
            made.add(sample)
        return made

    def add(self, sample: Sample) -> None:
        """Add one more sample, with what is derived of it."""
        sample = with_judged_counts(sample)
        self.samples.append(sample)
        cell = _CELLS.setdefault(sample.cell, sample.cell)
        self._by_place[cell, sample.measure].append(sample)
        for derived in (self._values, self._counts, self._found):
            derived.clear()

    @property
    def cells(self) -> set[Cell]:
        """Every cell that was attempted."""
        return {cell for cell, _ in self._by_place}

    def taken(self, cell: Cell, measure: Measure | None = None) -> list[Sample]:
        """The samples of a cell, of one pass or of all."""
        if measure is not None:
            return self._by_place.get((cell, measure), [])
        return [sample for one in PASSES for sample in self.taken(cell, one)]

    def values(self, cell: Cell, metric: Metric) -> Values:
        """The values of a metric in its unit, one for each process that gave it (`values_of`)."""
        key = cell, metric.name
        if key not in self._values:
            samples = self.taken(cell, None if metric.name in CORRECTNESS else metric.measure)
            found = values_of(metric, samples)
            self._values[key] = Values(values=found, failed=len(samples) - len(found))
        return self._values[key]

    def good(self, cell: Cell, metric: Metric) -> list[Sample]:
        """The samples of a cell that may give a metric, and did not fail."""
        measure = None if metric.name in CORRECTNESS else metric.measure
        return [sample for sample in self.taken(cell, measure) if sample.status == "ok"]

    def graph_counts(self, cell: Cell, metric: Metric) -> Mapping[str, Sequence[float]]:
        """The counts of each graph that every good sample has."""
        key = cell, metric.name
        if key not in self._counts:
            self._counts[key] = counts_by_graph(self.good(cell, metric), metric)
        return self._counts[key]

    def found_in_cache(self, cell: Cell) -> frozenset[str]:
        """The graphs of which a cache returned a function: only these can be lost."""
        if cell not in self._found:
            tally = tally_of(self.ledger(cell) or ())
            steps = (step for step, _, outcome in tally if outcome == "hit")
            self._found[cell] = frozenset(filter(None, steps))
        return self._found[cell]

    def source(self, cell: Cell, metric: Metric) -> str | None:
        """What counted a metric that has sources; None for the others, and where no sample says."""
        return source_of(metric, self.taken(cell, metric.measure))

    def ledger(self, cell: Cell) -> Sequence[LedgerEntry] | None:
        """The ledger of the cell's first good counting sample; None if there is none."""
        return next(iter(self.ledgers(cell)), None)

    def ledgers(self, cell: Cell) -> list[Sequence[LedgerEntry]]:
        """The ledgers of the cell's good counting samples."""
        return [
            sample.ledger for sample in self.taken(cell, "counting")
            if sample.status == "ok" and sample.ledger is not None
        ]  # fmt: skip

    def failures(self, cell: Cell) -> list[Sample]:
        """The samples of a cell that failed."""
        return [sample for sample in self.taken(cell) if failed(sample)]


def counts_by_graph(samples: Sequence[Sample], metric: Metric) -> Mapping[str, Sequence[float]]:
    """The counts of each graph that every one of the samples has."""
    found: dict[str, list[float]] = {}
    for step in chain.from_iterable(sample.steps for sample in samples):
        if metric.name in step.metrics:
            found.setdefault(step.name, []).append(float(step.metrics[metric.name]))
    return {name: own for name, own in found.items() if len(own) == len(samples)}


def message_of(sample: Sample) -> str:
    """How a sample failed, as it was recorded; its status where nothing else was."""
    return sample.failure.message if sample.failure else sample.status


def failure_of(failures: Sequence[Sample]) -> str:
    """How samples failed, in the words of the last one, without what differs between samples.

    Each sample has a sandbox directory of its own, and one of several processes says which it is.
    """
    if not failures:
        return "samples failed"
    last = failures[-1]
    message = last.failure.message if last.failure else f"the sample was {last.status}"
    return same_words(_PROCESS.sub("", message))


def same_words(message: str) -> str:
    """A message on one line, without the directory that differs between samples."""
    return " ".join(_SANDBOX.sub("SANDBOX", message).split())[:_LONGEST]
