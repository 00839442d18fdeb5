"""Which samples of a journal count, and which values they give. Pure.

Samples are comparable if Python and every package are the same: llvmlite or NumPy move times as
much as numba does. What only an optional backend needs does not count for the samples of others,
which were taken without it. Times are comparable with times of the same CPU only. Counts are
comparable whatever CPU counted them, except for those that depend on its machine code
(`Metric.of_cpu`).

Of comparable samples, those of the latest run that attempted a cell and pass (timing, counting,
tracing) count. If that run failed, its failure counts: an older value does not hide it.
`wrong_results` and `crashed` are taken from every pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from observatory.benchmarks.catalogue import METRICS, Cell, Measure, Metric
from observatory.store.journal.models import SEARCH, JournalEntry, JournalHeader, plan_of
from observatory.store.records.sample import Sample

_OF_CPU = frozenset(metric.name for metric in METRICS.values() if metric.of_cpu)


def current_header(
    entries: Iterable[JournalEntry], last: JournalHeader | None
) -> JournalHeader | None:
    """The header whose versions and CPU a journal's current values have.

    The versions are those of ``last``, the last header of the journal, with what was added last for
    each optional backend. The CPU is the one that took times last: counting on another machine does
    not outdate times. None if ``last`` is None.
    """
    if last is None:
        return None
    found = last
    added: dict[str, str] = {}
    for entry in entries:
        if not entry.header.versions.same_subject(last.versions):
            continue
        added |= entry.header.versions.added
        if took_times(entry.sample):
            found = entry.header
    if found.versions.added == added:
        return found
    return found.model_copy(update={"versions": found.versions.model_copy(update={"added": added})})


def took_times(sample: Sample) -> bool:
    """Whether a sample was timed, even if it failed: the times of its journal are of its CPU."""
    return sample.measure == "timing" and sample.status != "unavailable"


def comparable(header: JournalHeader, entry: JournalEntry) -> bool:
    """Whether a sample is comparable with samples that were taken under a header."""
    if not header.versions.agrees_with(entry.header.versions):
        return False
    return entry.sample.measure != "timing" or same_cpu(header, entry)


def same_cpu(header: JournalHeader, entry: JournalEntry) -> bool:
    """Whether a sample was taken on the CPU that a header names."""
    return header.machine.cpu == entry.header.machine.cpu


def comparable_entries(
    header: JournalHeader, entries: Iterable[JournalEntry]
) -> list[JournalEntry]:
    """The entries that are comparable under a header, in the order given.

    Entries that another CPU counted lack the metrics that depend on the CPU; the reason is among
    their absent metrics.
    """
    return [_counted_for(header, entry) for entry in entries if comparable(header, entry)]


def timed_elsewhere(entries: Iterable[JournalEntry], header: JournalHeader) -> list[JournalEntry]:
    """The last good timed sample of each cell that only another CPU than ``header``'s has timed.

    Only samples of the header's versions are considered.
    """
    here, elsewhere = _timed(entries, header)
    return [elsewhere[cell] for cell in sorted(elsewhere.keys() - here.keys())]


def timed_here_too(entries: Iterable[JournalEntry], header: JournalHeader) -> list[JournalEntry]:
    """The last good timed sample of ``header``'s CPU of each cell that another CPU timed, too.

    Without them, the other CPU would seem to be the only one.
    """
    here, elsewhere = _timed(entries, header)
    return [here[cell] for cell in sorted(elsewhere.keys() & here.keys())]


def _timed(
    entries: Iterable[JournalEntry], header: JournalHeader
) -> tuple[dict[Cell, JournalEntry], dict[Cell, JournalEntry]]:
    """The last good timed samples by cell: those of ``header``'s CPU, and those of others."""
    here: dict[Cell, JournalEntry] = {}
    elsewhere: dict[Cell, JournalEntry] = {}
    for entry in entries:
        if entry.sample.measure == "timing" and entry.sample.status == "ok":
            if comparable(header, entry):
                here[entry.sample.cell] = entry
            elif entry.header.versions.agrees_with(header.versions):
                elsewhere[entry.sample.cell] = entry
    return here, elsewhere


def _counted_for(header: JournalHeader, entry: JournalEntry) -> JournalEntry:
    if same_cpu(header, entry):
        return entry
    sample = entry.sample
    # Their values stay in the journal; a cell has none that was counted for another CPU.
    left = {name: value for name, value in sample.metrics.items() if name not in _OF_CPU}
    why = (
        f"counted on another CPU ({entry.header.machine.cpu}) than what stands beside it "
        f"({header.machine.cpu})"
    )
    absent = sample.absent | dict.fromkeys(sample.metrics.keys() - left.keys(), why)
    counted = sample.model_copy(update={"metrics": left, "absent": absent})
    return replace(entry, line=entry.line.model_copy(update={"sample": counted}))


def latest_runs(entries: Iterable[JournalEntry]) -> list[JournalEntry]:
    """The entries of the latest run that attempted each cell and pass, in the order given.

    ``entries`` are of one subject and comparable. A run in which the subject could not give the
    cell (`unavailable`) is no attempt: it counts only where no run attempted the pass. Nor are the
    times of a search, which are as few as tell the subject from another one.
    """
    runs: dict[tuple[Cell, Measure], tuple[bool, bool, str]] = {}
    ranked = []
    for entry in entries:
        place = (entry.sample.cell, entry.sample.measure)
        compared = entry.sample.measure == "timing" and plan_of(entry.run) == SEARCH
        rank = (entry.sample.status != "unavailable", not compared, entry.run)
        runs[place] = max(runs.get(place, rank), rank)
        ranked.append((entry, place, rank))
    return [entry for entry, place, rank in ranked if rank == runs[place]]


def failed(sample: Sample) -> bool:
    """Whether the process of a sample ended badly: it raised, was killed or timed out."""
    return sample.status not in ("ok", "unavailable")


def values_of(metric: Metric, samples: Sequence[Sample]) -> list[float]:
    """The values of a metric, one for each sample that gave it, in the metric's unit.

    ``samples`` are of one cell and of the metric's pass; of all passes for metrics of CORRECTNESS.
    """
    if metric.name == "crashed":
        return [max(float(failed(s)), float(s.metrics.get(metric.name, 0))) for s in samples]
    given = [
        sample
        for sample in samples
        # A sample that failed later may already have seen wrong numbers: they count.
        if metric.name in sample.metrics
        and (sample.status == "ok" or metric.name == "wrong_results")
    ]
    if metric.sourced:  # the newest source counts
        given = [sample for sample in given if sample.counted_by == given[-1].counted_by]
    return [float(sample.metrics[metric.name]) for sample in given]


def source_of(metric: Metric, samples: Sequence[Sample]) -> str | None:
    """What counted the values of a metric that has sources: that of the newest sample with one.

    None for other metrics, and where that sample does not say. ``samples``: as for `values_of`.
    """
    if not metric.sourced:
        return None
    return next((s.counted_by for s in reversed(samples) if metric.name in s.metrics), None)
