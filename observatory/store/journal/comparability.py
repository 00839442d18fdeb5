"""Which samples of a journal are comparable with which: the rule of versions and CPUs.

Samples are comparable if Python and every package are the same: llvmlite or NumPy move times as
much as numba does. Times are comparable with times of the same CPU only. Counts depend on the
versions and are comparable whatever CPU counted them, except for those that depend on its machine
code (`Metric.of_cpu`). Hosted runners are of several kinds, and what took an hour to count need
not be counted again on another CPU.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from benchmarks.catalogue import METRICS, Cell
from observatory.store.journal.models import JournalEntry, JournalHeader

_OF_CPU = frozenset(metric.name for metric in METRICS.values() if metric.of_cpu)


def current_header(
    entries: Iterable[JournalEntry], last: JournalHeader | None
) -> JournalHeader | None:
    """The header that a journal's current values are values of.

    It has the versions of ``last``, the last header of the journal, and the CPU that took times
    last: counting on another machine afterwards does not outdate times. None if ``last`` is None.
    """
    found = last
    for entry in entries:
        timed = entry.sample.measure == "timing" and entry.sample.status != "unavailable"
        if timed and last is not None and entry.header.versions == last.versions:
            found = entry.header
    return found


def comparable(header: JournalHeader, entry: JournalEntry) -> bool:
    """Whether a sample is comparable with samples that were taken under a header."""
    if header.versions != entry.header.versions:
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
    """The last good timed sample of each cell whose times are all of another CPU than ``header``'s.

    Only samples of the header's versions are considered.
    """
    here: set[Cell] = set()
    elsewhere: dict[Cell, JournalEntry] = {}
    for entry in entries:
        if entry.sample.measure == "timing" and entry.sample.status == "ok":
            if comparable(header, entry):
                here.add(entry.sample.cell)
            elif entry.header.versions == header.versions:
                elsewhere[entry.sample.cell] = entry
    return [elsewhere[cell] for cell in sorted(elsewhere.keys() - here)]


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
