"""Which samples of a journal may stand beside which: the rule of versions and CPUs.

Samples stand together if Python and every package are the same: llvmlite or NumPy move times as
much as numba does. Times stand beside times of the same CPU only. Counts are of the versions: they
stand whatever CPU counted them, but for those that are of its machine code (`Metric.of_cpu`).
Hosted runners are of several kinds, and what took an hour to count is not counted again for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.catalogue import METRICS

if TYPE_CHECKING:
    from benchmarks.catalogue import Cell
    from observatory.record.journal import JournalEntry, JournalHeader

_OF_CPU = frozenset(metric.name for metric in METRICS.values() if metric.of_cpu)


def standing_header(
    entries: Iterable[JournalEntry], last: JournalHeader | None
) -> JournalHeader | None:
    """What the values of a journal are values of: ``last``, on the CPU that took times last.

    Counting on another machine afterwards outdates no time.
    """
    found = last
    for entry in entries:
        timed = entry.sample.measure == "timing" and entry.sample.status != "unavailable"
        if timed and last is not None and entry.header.versions == last.versions:
            found = entry.header
    return found


def admits(header: JournalHeader, entry: JournalEntry) -> bool:
    """Whether a sample may stand beside those taken under a header."""
    if header.versions != entry.header.versions:
        return False
    return entry.sample.measure != "timing" or of_its_cpu(header, entry)


def of_its_cpu(header: JournalHeader, entry: JournalEntry) -> bool:
    """Whether a sample was taken on the CPU that a header names."""
    return header.machine.cpu == entry.header.machine.cpu


def admitted(header: JournalHeader, entries: Iterable[JournalEntry]) -> list[JournalEntry]:
    """The entries that stand under a header.

    What another CPU counted is without the metrics that are of a CPU; the reason is given.
    """
    return [_counted_for(header, entry) for entry in entries if admits(header, entry)]


def timed_elsewhere(entries: Iterable[JournalEntry], header: JournalHeader) -> list[JournalEntry]:
    """The last good timed sample of each cell whose times are all of another CPU."""
    here: set[Cell] = set()
    elsewhere: dict[Cell, JournalEntry] = {}
    for entry in entries:
        if entry.sample.measure == "timing" and entry.sample.status == "ok":
            if admits(header, entry):
                here.add(entry.sample.cell)
            elif entry.header.versions == header.versions:
                elsewhere[entry.sample.cell] = entry
    return [entry for cell, entry in elsewhere.items() if cell not in here]


def _counted_for(header: JournalHeader, entry: JournalEntry) -> JournalEntry:
    if of_its_cpu(header, entry):
        return entry
    sample = entry.sample
    # Their values stay in the journal; a cell has none that was counted for another CPU.
    left = {name: value for name, value in sample.metrics.items() if name not in _OF_CPU}
    why = (
        f"counted on another CPU ({entry.header.machine.cpu}) than what stands beside it "
        f"({header.machine.cpu})"
    )
    absent = sample.absent | dict.fromkeys(sample.metrics.keys() - left.keys(), why)
    return replace(entry, sample=sample.model_copy(update={"metrics": left, "absent": absent}))
