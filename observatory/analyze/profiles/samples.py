"""The profiles of two subjects compared cell by cell: calls, and seconds by phase. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import scipy  # its statistics take a second to import: they are when they are first asked for

from observatory.analyze.chance import FALSE_DISCOVERY_RATE, FEWEST
from observatory.analyze.profiles.judging import LARGE, judged
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.profile import (
    PhaseMemory,
    PhaseTime,
    Profile,
    ProfileDifference,
    Rewriter,
)
from observatory.store.records.sample import Sample

NOT_ATTRIBUTED = "not attributed"
ENOUGH = 0.25
"""A phase with a smaller share of the additional time does not explain it."""
_LEAST_MEMORY = 1_000_000
"""Bytes: the allocator decides about less."""
_NOTICED = 0.01
"""The share of the build by which a phase must grow to be named where the whole is calm."""


@dataclass(frozen=True)
class ByPhase:
    """What each phase of one sample took, seconds or bytes; a phase that it lacks took none."""

    taken: Mapping[str, float]
    unwatched: frozenset[str] = frozenset()
    """Phases that the sample could not see: what they took is part of others."""


class Differences(Mapping[Cell, ProfileDifference]):
    """How the work of two subjects differs, by cell: of those that both have traced.

    Each difference is found when it is asked for, which takes a twentieth of a second.
    """

    def __init__(self, bases: Iterable[Sample], heads: Iterable[Sample]) -> None:
        before, after = traced(bases), traced(heads)
        self._sides = {cell: (before[cell], after[cell]) for cell in before if cell in after}
        self._found: dict[Cell, ProfileDifference] = {}

    def __getitem__(self, cell: Cell) -> ProfileDifference:
        sides = self._sides[cell]
        if cell not in self._found:
            found = judged(*sides)
            assert found is not None, "every traced sample has a tree"
            self._found[cell] = found
        return self._found[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._sides)

    def __len__(self) -> int:
        return len(self._sides)

    def __contains__(self, cell: object) -> bool:
        return cell in self._sides

    def repeated(self, cell: Cell) -> bool:
        """Whether both sides traced a cell more than once: one sample shows no spread."""
        return min(map(len, self._sides[cell])) > 1


def phase_times(bases: Iterable[Sample], heads: Iterable[Sample]) -> dict[Cell, list[PhaseTime]]:
    """Return the median seconds of each phase of both subjects, the largest growth first.

    For each cell that both have timed. What belongs to no phase is `NOT_ATTRIBUTED`. A phase is
    sure if a test of ranks (Mann & Whitney 1947) says so, with false discoveries controlled over
    the phases, and if its medians are further apart than the quartiles of either side. One that
    some of the samples could not see is never sure.
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


def timed(samples: Iterable[Sample]) -> dict[Cell, list[ByPhase]]:
    """Return the seconds by phase of each timed sample."""
    found: dict[Cell, list[ByPhase]] = defaultdict(list)
    for sample in samples:
        total = sample.metrics.get("compile_time")
        if sample.status != "ok" or sample.profile is None or total is None:
            continue
        seconds = {one.name: one.seconds or 0.0 for one in sample.profile.phases}
        seconds[NOT_ATTRIBUTED] = max(0.0, total - sum(seconds.values()))
        found[sample.cell].append(ByPhase(seconds, frozenset(sample.profile.unwatched)))
    return found


def rewriters(samples: Iterable[Sample]) -> dict[Cell, dict[str, Rewriter]]:
    """Return what the last timing sample of each cell says of its rewriters, by their names."""
    found: dict[Cell, dict[str, Rewriter]] = {}
    for sample in samples:
        if sample.status == "ok" and sample.profile is not None:
            own = {one.name: one for one in sample.profile.rewriters if one.seconds is not None}
            if own:
                found[sample.cell] = own
    return found


def raised(samples: Iterable[Sample]) -> dict[Cell, list[ByPhase]]:
    """Return the bytes by which each phase raised the largest resident memory, of each sample."""
    found: dict[Cell, list[ByPhase]] = defaultdict(list)
    for sample in samples:
        if sample.status == "ok" and sample.profile is not None:
            phases = {one.name: float(one.peak_bytes) for one in sample.profile.phases
                      if one.peak_bytes is not None}  # fmt: skip
            if phases:
                found[sample.cell].append(ByPhase(phases, frozenset(sample.profile.unwatched)))
    return found


def memory_by_phase(before: Sequence[ByPhase], after: Sequence[ByPhase]) -> list[PhaseMemory]:
    """Return the medians of both sides for each phase, the largest growth first.

    ``before``, ``after``: of one cell, as of `raised`.
    """
    sides = _values(before, after)
    found = [
        PhaseMemory(
            name=name, base=median(sides[0][name]), head=median(sides[1][name]),
            watched=_watched(name, before, after),
        )
        for name in sides[0]
    ]  # fmt: skip
    return sorted(found, key=lambda one: (one.base - one.head, one.name))


def _values(*sides: Sequence[ByPhase]) -> list[dict[str, list[float]]]:
    """Return what each sample of each side took, by phase."""
    names = dict.fromkeys(name for side in sides for one in side for name in one.taken)
    return [{name: [one.taken.get(name, 0.0) for one in side] for name in names} for side in sides]


def _watched(name: str, *sides: Sequence[ByPhase]) -> bool:
    """Whether all samples could see a phase, or none of them."""
    return len({name in one.unwatched for side in sides for one in side}) == 1


def larger_phase(memory: Sequence[PhaseMemory], more: float) -> tuple[PhaseMemory, float] | None:
    """The phase that a larger peak of memory is explained by, and its share of the growth.

    ``memory``: as `memory_by_phase` returns it; ``more``: the bytes by which the peak grew, which
    other samples say. None where no phase grew by a megabyte, where the one that grew most explains
    little, and where the phases together do not raise the peak by more.
    """
    first = next((one for one in memory if one.watched), None)
    grown = 0.0 if first is None else first.head - first.base - _unseen(memory)
    if first is None or grown < max(_LEAST_MEMORY, ENOUGH * more) or more <= 0:
        return None
    if sum(one.head - one.base for one in memory) <= 0:
        return None
    return first, (first.head - first.base) / more


def longer_phase(times: Sequence[PhaseTime]) -> tuple[PhaseTime, float] | None:
    """The phase that a longer build is explained by, and its share of the additional time.

    ``times``: of one cell, as `phase_times` returns them. None where no phase is sure, or where the
    one that grew most explains little. The share is above 1 where other phases take less.
    """
    more = sum(time.head - time.base for time in times)
    first = next((time for time in times if time.sure and time.head > time.base), None)
    if first is None or more <= 0 or first.head - first.base - _unseen(times) < ENOUGH * more:
        return None
    return first, (first.head - first.base) / more


def _unseen(phases: Sequence[PhaseTime] | Sequence[PhaseMemory]) -> float:
    """What phases had in BASE that HEAD does not show: it is in other phases there."""
    return sum(one.base for one in phases if not one.watched)


def grown_phase(times: Sequence[PhaseTime]) -> PhaseTime | None:
    """The phase that surely takes much longer, whether or not the noise of the whole hides it.

    ``times``: of one cell, as `phase_times` returns them. None where there is no such phase.
    """
    least = _NOTICED * sum(time.base for time in times) + _unseen(times)
    return next(
        (t for t in times if t.sure and t.head - t.base >= max(least, LARGE * t.base)), None
    )


def paired(before: Sequence[ByPhase], after: Sequence[ByPhase]) -> list[PhaseTime]:
    """Return what `phase_times` says of one cell: ``before`` and ``after`` are as of `timed`."""
    sides = _values(before, after)
    sure = _sure(*sides)
    times = []
    for name in sides[0]:
        watched = _watched(name, before, after)
        times.append(PhaseTime(
            name=name, base=median(sides[0][name]), head=median(sides[1][name]),
            sure=watched and name in sure, watched=watched,
        ))  # fmt: skip
    return sorted(times, key=lambda time: (time.base - time.head, time.name))


def _sure(before: Mapping[str, list[float]], after: Mapping[str, list[float]]) -> set[str]:
    """Return the phases whose seconds differ between the sides more than between samples."""
    tested: dict[str, float] = {}
    for name, old in before.items():
        new = after[name]
        if min(len(old), len(new)) >= FEWEST and len({*old, *new}) > 1:
            tested[name] = scipy.stats.mannwhitneyu(old, new).pvalue
    if not tested:
        return set()
    q_values = scipy.stats.false_discovery_control([*tested.values()], method="bh")
    return {
        name
        for name, q in zip(tested, q_values, strict=True)
        if q <= FALSE_DISCOVERY_RATE
        and abs(median(after[name]) - median(before[name]))
        > max(_between_quartiles(before[name]), _between_quartiles(after[name]))
    }


def _between_quartiles(values: Sequence[float]) -> float:
    low, high = np.quantile(values, (0.25, 0.75))
    return float(high - low)
