"""Which samples, and which of their values, stand for a cell. Pure.

For each cell and pass (timing, counting, tracing) the latest run that attempted it counts, with all
its samples; older runs stay in the journal. If that run failed, its failure counts: an older value
does not hide it. `wrong_results` and `crashed` are taken from every pass, so that no shown value
ever comes from a sample whose wrongness is not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.catalogue import Cell, Measure, Metric
from observatory.store.journal.models import JournalEntry
from observatory.store.records.sample import Sample


def latest_runs(entries: Iterable[JournalEntry]) -> list[JournalEntry]:
    """The entries of the latest run that attempted each cell and pass, in the order given.

    ``entries`` are of one subject and comparable. A run in which the subject could not give the
    cell (`unavailable`) is no attempt: it counts only where no run attempted the pass.
    """
    runs: dict[tuple[Cell, Measure], tuple[bool, str]] = {}
    ranked = []
    for entry in entries:
        place = (entry.sample.cell, entry.sample.measure)
        rank = (entry.sample.status != "unavailable", entry.run)
        runs[place] = max(runs.get(place, rank), rank)
        ranked.append((entry, place, rank))
    return [entry for entry, place, rank in ranked if rank == runs[place]]


def failed(sample: Sample) -> bool:
    """Whether the process of a sample ended badly: it raised, was killed or timed out."""
    return sample.status not in ("ok", "unavailable")


def values_of(metric: Metric, samples: Sequence[Sample]) -> list[float]:
    """The values of a metric, one for each sample that gave it, in the metric's unit.

    ``samples`` are of one cell: those of the metric's pass, or those of all passes for the metrics
    of CORRECTNESS.
    """
    if metric.name == "crashed":
        return [max(float(failed(s)), float(s.metrics.get(metric.name, 0))) for s in samples]
    return [
        float(sample.metrics[metric.name])
        for sample in samples
        # A sample that failed later may already have seen wrong numbers: they count.
        if metric.name in sample.metrics
        and (sample.status == "ok" or metric.name == "wrong_results")
    ]
