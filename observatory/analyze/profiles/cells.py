"""The profile of each cell of a subject, from its samples: calls by chain, seconds by phase. Pure.

Both are stacks: chains of names, the outermost first, each with the weight of its last name alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Literal

from observatory.analyze.profiles.judging import judged, typical
from observatory.analyze.profiles.llvm_passes import pass_times, usual_passes
from observatory.analyze.profiles.samples import (
    NOT_ATTRIBUTED,
    ByPhase,
    memory_by_phase,
    paired,
    raised,
    rewriters,
    timed,
    traced,
)
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.profiles import ROOT
from observatory.store.records.profile import (
    LlvmPass,
    LlvmPassTime,
    PhaseMemory,
    PhaseTime,
    Profile,
    ProfileDifference,
    Rewriter,
)
from observatory.store.records.sample import Sample

Unit = Literal["calls", "seconds"]
UNITS: tuple[Unit, ...] = ("calls", "seconds")
Stacks = Sequence[tuple[tuple[str, ...], float]]


@dataclass(frozen=True)
class CellProfile:
    """What the samples of one cell of a subject say of its builds."""

    traced: Sequence[Profile] = ()
    """Of the tracing samples."""
    timed: Sequence[ByPhase] = ()
    """Of the timing samples: the seconds of each phase, without the phases inside it."""
    rewriters: Mapping[str, Rewriter] = field(default_factory=dict)
    """Of a timing sample: seconds, applications and created nodes of those that took longest."""
    raised: Sequence[ByPhase] = ()
    """Of the counting samples: the bytes by which each phase raised the peak of memory."""

    @cached_property
    def typical(self) -> Profile | None:
        """The traced profile with the median number of calls; None if none was traced."""
        return typical(self.traced) if self.traced else None

    @cached_property
    def seconds(self) -> Mapping[str, float]:
        """The median seconds of each phase."""
        return _medians(self.timed)

    @cached_property
    def llvm_passes(self) -> Sequence[LlvmPass]:
        """The median CPU seconds of each pass of LLVM, the longest first."""
        return usual_passes(self.traced)

    @cached_property
    def memory(self) -> Mapping[str, float]:
        """The median bytes by which each phase raised the peak."""
        return _medians(self.raised)

    def stacks(self, unit: Unit, beside: Sequence[CellProfile] = ()) -> Stacks:
        """The profile in calls or in seconds; empty if no sample has it.

        ``beside``: profiles that it is shown with. Passes of LLVM that one of them does not know
        are left in their phase.
        """
        if unit == "seconds":
            return list(self._by_phase_and_pass(beside))
        found = self.typical
        return list(found.tree.stacks()) if found and found.tree else []

    @property
    def _knows_passes(self) -> bool:
        """Whether a sample looked for passes of LLVM; it may have found none."""
        return any(one.llvm_passes is not None for one in self.traced)

    def _inside(self, phase: str) -> list[LlvmPass]:
        return [one for one in self.llvm_passes if one.phase == phase]

    def _fitting(self, phase: str) -> float:
        """What the seconds of passes are multiplied with, so that they fill their phase at most.

        Other samples timed the passes than the phase.
        """
        total = sum(one.seconds for one in self._inside(phase))
        return min(1.0, self.seconds.get(phase, 0.0) / total) if total else 1.0

    def _by_phase_and_pass(
        self, beside: Sequence[CellProfile]
    ) -> Iterator[tuple[tuple[str, ...], float]]:
        """The seconds of each phase, and of the passes inside it.

        One factor fits the passes of all profiles: equal passes are drawn with equal seconds.
        """
        sides = (self, *beside)
        known = all(one._knows_passes for one in sides)
        for phase, seconds in self.seconds.items():
            path = (ROOT, *_path(phase))
            fitting = min(one._fitting(phase) for one in sides)
            inside = [(o.name, fitting * o.seconds) for o in self._inside(phase)] if known else []
            yield path, max(0.0, seconds - sum(taken for _, taken in inside))
            yield from (((*path, name), taken) for name, taken in inside)

    def total(self, unit: Unit) -> float:
        """All calls, or all seconds."""
        if unit == "seconds":
            return sum(self.seconds.values())
        return self.typical.tree.calls if self.typical and self.typical.tree else 0


def _medians(samples: Sequence[ByPhase]) -> Mapping[str, float]:
    names = dict.fromkeys(name for one in samples for name in one.taken)
    return {name: median(one.taken.get(name, 0.0) for one in samples) for name in names}


def cell_profiles(samples: Iterable[Sample]) -> dict[Cell, CellProfile]:
    """Return the profile of each cell that has one. ``samples`` are of one subject."""
    samples = list(samples)
    by_chain, by_phase = traced(samples), timed(samples)
    by_rewriter, memory = rewriters(samples), raised(samples)
    return {
        cell: CellProfile(by_chain.get(cell, ()), by_phase.get(cell, ()),
                          by_rewriter.get(cell, {}), memory.get(cell, ()))
        for cell in sorted(by_chain.keys() | by_phase.keys())
    }  # fmt: skip


def units_of(*sides: CellProfile) -> list[Unit]:
    """The units in which every side has a profile."""
    return [unit for unit in UNITS if all(side.total(unit) for side in sides)]


def in_common(base: Mapping[Cell, CellProfile], head: Mapping[Cell, CellProfile]) -> list[Cell]:
    """The cells of which both subjects have a profile in one unit, the largest change first.

    Counts decide where both have them; a change of seconds alone comes after every change of calls.
    """

    def change(cell: Cell) -> tuple[int, float]:
        unit = units_of(base[cell], head[cell])[0]
        before, after = base[cell].total(unit), head[cell].total(unit)
        return UNITS.index(unit), -abs(after - before) / max(before, 1e-9)

    shared = [cell for cell in base if cell in head and units_of(base[cell], head[cell])]
    return sorted(shared, key=change)


def phase_times_of(base: CellProfile, head: CellProfile) -> list[PhaseTime]:
    """The seconds of each phase of both, the largest growth first; empty if a side has none."""
    return paired(base.timed, head.timed) if base.timed and head.timed else []


def pass_times_of(base: CellProfile, head: CellProfile) -> list[LlvmPassTime]:
    """The CPU seconds of each pass of LLVM of both, the largest growth first."""
    return pass_times(base.traced, head.traced)


def memory_of(base: CellProfile, head: CellProfile) -> list[PhaseMemory]:
    """The memory of each phase of both, the largest growth first; empty if a side has none."""
    return memory_by_phase(base.raised, head.raised) if base.raised and head.raised else []


def difference_of(base: CellProfile, head: CellProfile) -> ProfileDifference | None:
    """How the calls of HEAD differ, part by part; None where a side was not traced."""
    return judged(base.traced, head.traced)


def _path(phase: str) -> tuple[str, ...]:
    """The names above a phase and its own: phases of one compiler lie below it."""
    if phase == NOT_ATTRIBUTED:
        return (NOT_ATTRIBUTED,)
    compiler, colon, _ = phase.partition(": ")
    return (compiler, phase) if colon else (phase,)
