"""The metrics of a cache's symbols, added to the sample whose processes have filled it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.catalogue import BACKENDS, SIBLINGS, SYMBOLS
from benchmarks.plan import Task
from observatory.guard.scan.scanning import NoCacheError, scan
from observatory.store.records.sample import Sample


def wanted(task: Task) -> bool:
    """Whether a sample leaves functions of several processes in one cache of numba's."""
    return (
        task.cell.scenario in SIBLINGS
        and task.measure == "counting"
        and BACKENDS[task.cell.backend].has_symbols
        and task.keep is None
    )


def added(sample: Sample, cache: Path) -> Sample:
    """The sample with `collided_symbols` and `vulnerable_symbols`; as it was if it left no cache.

    Where a file cannot be read they are absent, with the reason: a count without it may be too low.
    """
    if not cache.is_dir():
        return sample
    try:
        report = scan(cache)
    except NoCacheError:
        return _without(sample, "these processes left no cache of numba's")
    if report.unreadable:
        broken = report.unreadable[0]
        return _without(sample, f"{broken.path} cannot be read: {broken.reason}")
    found = {
        "collided_symbols": report.collided_symbols,
        "vulnerable_symbols": report.vulnerable_symbols,
    }
    absent = {name: why for name, why in sample.absent.items() if name not in found}
    return sample.model_copy(update={"metrics": sample.metrics | found, "absent": absent})


def _without(sample: Sample, why: str) -> Sample:
    return sample.model_copy(update={"absent": sample.absent | dict.fromkeys(SYMBOLS, why[:2000])})
