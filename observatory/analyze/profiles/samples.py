"""The profiles of two subjects compared cell by cell: calls, and seconds by phase. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from benchmarks.catalogue import Cell
from observatory.analyze.profiles.judging import judged
from observatory.store.records.profile import PhaseTime, Profile, ProfileDifference
from observatory.store.records.sample import Sample

NOT_ATTRIBUTED = "not attributed"


def differences(bases: Iterable[Sample], heads: Iterable[Sample]) -> dict[Cell, ProfileDifference]:
    """Return the difference of the work of two subjects, for each cell that both have traced."""
    before, after = traced(bases), traced(heads)
    found = {cell: judged(before[cell], after[cell]) for cell in before if cell in after}
    return {cell: one for cell, one in found.items() if one is not None}


def phase_times(bases: Iterable[Sample], heads: Iterable[Sample]) -> dict[Cell, list[PhaseTime]]:
    """Return the median seconds of each phase of both subjects, the largest growth first.

    For each cell that both have timed. What belongs to no phase is `NOT_ATTRIBUTED`.
    """
    before, after = timed(bases), timed(heads)
    return {cell: paired(before[cell], after[cell]) for cell in before if cell in after}


def traced(samples: Iterable[Sample]) -> dict[Cell, list[Profile]]:
    """Return the profiles of calls of each cell."""
    found: dict[Cell, list[Profile]] = defaultdict(list)
    for sample in samples:
        if sample.status == "ok" and sample.profile is not None and sample.profile.tree is not None:
            found[sample.cell].append(sample.profile)
    return found


def timed(samples: Iterable[Sample]) -> dict[Cell, list[dict[str, float]]]:
    """Return the seconds by phase of each timed sample."""
    found: dict[Cell, list[dict[str, float]]] = defaultdict(list)
    for sample in samples:
        total = sample.metrics.get("compile_time")
        if sample.status != "ok" or sample.profile is None or total is None:
            continue
        seconds = {one.name: one.seconds or 0.0 for one in sample.profile.phases}
        seconds[NOT_ATTRIBUTED] = max(0.0, total - sum(seconds.values()))
        found[sample.cell].append(seconds)
    return found


def paired(
    before: Sequence[Mapping[str, float]], after: Sequence[Mapping[str, float]]
) -> list[PhaseTime]:
    """Return the median seconds of each phase of both sides, the largest growth first."""

    def seconds(side: Sequence[Mapping[str, float]], name: str) -> float:
        return median(one.get(name, 0.0) for one in side)

    names = dict.fromkeys(name for one in (*before, *after) for name in one)
    times = [
        PhaseTime(name=name, base=seconds(before, name), head=seconds(after, name))
        for name in names
    ]
    return sorted(times, key=lambda time: (time.base - time.head, time.name))
