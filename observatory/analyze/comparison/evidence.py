"""What was measured of one side of a comparison, by cell and pass. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.catalogue import CORRECTNESS, Cell, Measure, Metric
from observatory.store.journal.values import failed, values_of
from observatory.store.records.comparison import Values
from observatory.store.records.sample import LedgerEntry, Sample
from observatory.text.reasons import UNAVAILABLE

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

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> Evidence:
        """Evidence from samples that are all there."""
        made = cls()
        for sample in samples:
            made.add(sample)
        return made

    def add(self, sample: Sample) -> None:
        """Take in one more sample."""
        self.samples.append(sample)
        cell = _CELLS.setdefault(sample.cell, sample.cell)
        self._by_place[cell, sample.measure].append(sample)
        self._values.clear()

    @property
    def cells(self) -> set[Cell]:
        """Every cell that was attempted."""
        return {cell for cell, _ in self._by_place}

    def taken(self, cell: Cell, measure: Measure | None = None) -> list[Sample]:
        """The samples of a cell, of one pass or of all."""
        if measure is not None:
            return self._by_place.get((cell, measure), [])
        passes: tuple[Measure, ...] = ("counting", "tracing", "timing")
        return [sample for one in passes for sample in self.taken(cell, one)]

    def values(self, cell: Cell, metric: Metric) -> Values:
        """The values of a metric in its unit, one for each process that gave it (`values_of`)."""
        key = cell, metric.name
        if key not in self._values:
            samples = self.taken(cell, None if metric.name in CORRECTNESS else metric.measure)
            found = values_of(metric, samples)
            self._values[key] = Values(values=found, failed=len(samples) - len(found))
        return self._values[key]

    def ledger(self, cell: Cell) -> list[LedgerEntry] | None:
        """The ledger of the cell's first good counting sample; None if there is none."""
        for sample in self.taken(cell, "counting"):
            if sample.status == "ok" and sample.ledger is not None:
                return sample.ledger
        return None

    def failures(self, cell: Cell) -> list[Sample]:
        """The samples of a cell that ended badly."""
        return [sample for sample in self.taken(cell) if failed(sample)]

    def unavailable(self, cell: Cell) -> str | None:
        """Why the subject cannot give this cell; None if it can, or was not asked."""
        samples = self.taken(cell)
        if not samples or any(sample.status != "unavailable" for sample in samples):
            return None
        failure = samples[-1].failure
        return failure.message if failure else UNAVAILABLE
