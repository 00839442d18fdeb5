"""From every sample of a subject to its current values and what a reader must know of them. Pure.

The rule of which samples count is in `values`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from observatory.benchmarks.catalogue import (
    CORRECTNESS,
    MEASURES,
    Cell,
    Measure,
    Metric,
    metrics_of,
)
from observatory.store.journal.models import JournalEntry, JournalHeader
from observatory.store.journal.reader import JournalContents
from observatory.store.journal.values import (
    latest_runs,
    same_cpu,
    source_of,
    timed_elsewhere,
    values_of,
)
from observatory.store.records.sample import Sample


@dataclass(frozen=True)
class Recorded:
    """The values of one cell and metric, one for each sample, in the metric's unit.

    ``values`` is empty if every sample failed.
    """

    cell: Cell
    metric: Metric
    values: tuple[float, ...]
    started_at: datetime
    duration: float | None  # wall time of the samples in seconds; None where they do not tell
    counted_by: str | None = None  # what counted work, in words

    @property
    def value(self) -> float | None:
        """The value that stands for the samples (`Metric.value_of`); None: there is none."""
        return self.metric.value_of(self.values) if self.values else None


@dataclass(frozen=True)
class Note:
    """Something that a reader of the values must know about a cell; ``text`` is a sentence."""

    subject: str
    cell: Cell
    kind: Literal["failed", "disagrees", "unavailable", "absent"]
    text: str
    metric: str | None = None
    measure: Measure | None = None


@dataclass(frozen=True)
class Latest:
    """Values and notes, by cell and then in the order of the vocabulary's metrics."""

    recorded: list[Recorded]
    notes: list[Note]
    unknown: list[str]
    """Sentences on samples whose cell this version of the vocabulary does not have."""


def latest_of(contents: JournalContents) -> Latest:
    """The current values of a journal; a note for each cell with times of another CPU only."""
    header = contents.header
    found = latest(contents.current(), header)
    if header is None:
        return found
    for entry in timed_elsewhere(contents.entries, header):
        cell = entry.sample.cell
        text = (
            f"its times are left out: they are of another CPU ({entry.header.machine.cpu}) than "
            f"the last ones ({header.machine.cpu}); give machines that differ names that differ"
        )
        if cell.problem() is None:
            found.notes.append(Note(header.subject.label, cell, "absent", text, measure="timing"))
    return found


def latest(entries: Iterable[JournalEntry], header: JournalHeader | None = None) -> Latest:
    """The current values of each cell. ``entries`` are of one subject and comparable.

    Counts that depend on the CPU (`Metric.of_cpu`) are those of the CPU that ``header`` names, even
    if another has counted since. Samples of a cell that is not measured become ``unknown``.
    """
    by_cell: dict[Cell, list[JournalEntry]] = defaultdict(list)
    for entry in entries:
        by_cell[entry.sample.cell].append(entry)
    found = Latest([], [], [])
    for cell in sorted(by_cell):
        if problem := cell.problem():
            found.unknown.append(f"samples of {cell} are left out: {problem}")
            continue
        _add_cell(found, cell, by_cell[cell], header)
    return found


def _add_cell(
    found: Latest, cell: Cell, entries: list[JournalEntry], header: JournalHeader | None
) -> None:
    subject = entries[-1].header.subject.label
    passes = _latest_passes(entries)
    if not passes:
        reason = entries[-1].sample.failure
        text = reason.message if reason else "the subject cannot give this cell"
        found.notes.append(Note(subject, cell, "unavailable", text))
        return
    everything = [sample for samples in passes.values() for sample in samples]
    here = _latest_passes([e for e in entries if header is not None and same_cpu(header, e)])
    for measure, samples in passes.items():
        failures = [sample for sample in samples if sample.status != "ok"]
        if failures:
            reason, status = failures[-1].failure, failures[-1].status
            how = reason.message if reason else f"the sample was {status}"
            text = f"{len(failures)} of {len(samples)} {measure} samples failed: {how}"
            found.notes.append(Note(subject, cell, "failed", text, measure=measure))
    for measure, why in _passes_not_given(entries, passes):
        found.notes.append(Note(subject, cell, "absent", why, measure=measure))
    for metric in metrics_of(cell.scenario, cell.launch):
        samples = everything if metric.name in CORRECTNESS else passes.get(metric.measure, [])
        if metric.of_cpu:
            samples = here.get(metric.measure, samples)
        if not samples:
            continue
        record = _recorded(cell, metric, samples)
        if record.values or any(sample.status != "ok" for sample in samples):
            found.recorded.append(record)
        reasons = [s.absent[metric.name] for s in samples if metric.name in s.absent]
        if reasons and not record.values:
            found.notes.append(Note(subject, cell, "absent", reasons[-1], metric=metric.name))
        if (
            metric.kind == "exact"
            and len(set(record.values)) > 1
            and metric.name not in CORRECTNESS
        ):
            values = ", ".join(f"{value:g}" for value in record.values)
            text = f"{metric.name} is not deterministic: {values} in samples of one run"
            found.notes.append(Note(subject, cell, "disagrees", text, metric=metric.name))


def _passes_not_given(
    entries: list[JournalEntry], passes: Collection[Measure]
) -> Iterator[tuple[Measure, str]]:
    """The passes of which every sample is unavailable, where others are there; and why."""
    for entry in {entry.sample.measure: entry for entry in latest_runs(entries)}.values():
        sample = entry.sample
        if sample.measure not in passes and sample.failure is not None:
            yield sample.measure, sample.failure.message


def _latest_passes(entries: list[JournalEntry]) -> dict[Measure, list[Sample]]:
    """The samples of each pass's latest run; passes that the subject cannot give are left out."""
    samples = [entry.sample for entry in latest_runs(entries)]
    given = [sample for sample in samples if sample.status != "unavailable"]
    tried = {sample.measure for sample in given}
    return {
        measure: [sample for sample in given if sample.measure == measure]
        for measure in MEASURES
        if measure in tried
    }


def _recorded(cell: Cell, metric: Metric, samples: list[Sample]) -> Recorded:
    spent = [sample.overhead.total for sample in samples if sample.overhead is not None]
    started = min(sample.started_at for sample in samples)
    values = tuple(values_of(metric, samples))
    source = source_of(metric, samples)
    return Recorded(cell, metric, values, started, sum(spent) if spent else None, source)
