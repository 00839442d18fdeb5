"""Which LLVM passes take longer. Pure.

The tracing samples time them, in seconds of the CPU, as other samples may run beside these. There
are few, so that no test of ranks is possible: a pass explains a longer phase only if it takes much
longer than before, by more than a busy machine makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from observatory.analyze.profiles.judging import LARGE
from observatory.analyze.profiles.samples import ENOUGH
from observatory.benchmarks.profiles import OTHER
from observatory.store.records.profile import LlvmPass, LlvmPassTime, PhaseTime, Profile

_Passes = Mapping[tuple[str, str], LlvmPass]
"""The passes of one sample, by phase and name."""


def usual_passes(profiles: Sequence[Profile]) -> list[LlvmPass]:
    """Return the median seconds and runs of each pass, the longest first.

    ``profiles``: of one cell. Empty where none of them looked.
    """
    return [
        LlvmPass(
            name=one.name, phase=one.phase, seconds=one.head,
            runs=None if one.head_runs is None else round(one.head_runs),
        )
        for one in pass_times(profiles, profiles)
    ]  # fmt: skip


def pass_times(bases: Sequence[Profile], heads: Sequence[Profile]) -> list[LlvmPassTime]:
    """Return the medians of both sides for each pass, the largest growth first.

    ``bases``, ``heads``: profiles of one cell. Empty where no profile of a side looked. Of equal
    growth, the longest pass comes first.
    """
    before, after = ([*map(_by_name, filter(_looked, side))] for side in (bases, heads))
    if not before or not after:
        return []
    times = [
        LlvmPassTime(
            phase=phase, name=name, samples=min(len(before), len(after)),
            base=_seconds(before, (phase, name)), head=_seconds(after, (phase, name)),
            base_runs=_runs(before, (phase, name)), head_runs=_runs(after, (phase, name)),
        )
        for phase, name in dict.fromkeys(key for one in (*before, *after) for key in one)
    ]  # fmt: skip
    return sorted(times, key=lambda time: (time.base - time.head, -time.head, time.name))


def longer_pass(times: Sequence[LlvmPassTime], phase: PhaseTime) -> LlvmPassTime | None:
    """The pass that a longer phase is explained by; None where no pass takes much longer.

    ``times``: of the same cell, as `pass_times` returns them.
    """
    enough = ENOUGH * (phase.head - phase.base)
    inside = (one for one in times if one.phase == phase.name and one.name != OTHER)
    return next((t for t in inside if t.head - t.base >= max(enough, LARGE * t.base)), None)


def more_runs(
    times: Sequence[LlvmPassTime], more: float
) -> tuple[LlvmPassTime | None, int, int] | None:
    """Which pass runs so much more often that it explains a quarter of ``more`` runs, if one does.

    ``times``: of one cell, as `pass_times` returns them. Returns the pass or None, how many passes
    run more often, and how many there are whose runs HEAD knows; None where no pass does.
    """
    known = {one.name: one for one in times if one.head_runs is not None}
    grown = {
        name: (one.head_runs or 0) - one.base_runs
        for name, one in known.items()
        if one.base_runs is not None
    }
    grown = {name: runs for name, runs in grown.items() if runs > 0}
    if not grown:
        return None
    name = max(grown, key=grown.__getitem__)
    return known[name] if grown[name] >= ENOUGH * more else None, len(grown), len(known)


def _looked(profile: Profile) -> bool:
    return profile.llvm_passes is not None


def _by_name(profile: Profile) -> _Passes:
    return {(one.phase, one.name): one for one in profile.llvm_passes or ()}


def _seconds(side: Sequence[_Passes], key: tuple[str, str]) -> float:
    return median(one[key].seconds if key in one else 0.0 for one in side)


def _runs(side: Sequence[_Passes], key: tuple[str, str]) -> float | None:
    """The median runs of a pass; None where a sample does not say, or may keep it in `OTHER`."""
    other = key[0], OTHER
    if key == other:
        return None
    found = [one[key].runs if key in one else None if other in one else 0 for one in side]
    known = [runs for runs in found if runs is not None]
    return float(median(known)) if len(known) == len(found) else None
