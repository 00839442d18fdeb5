"""Where a change begins: what the profiles of both sides add to verdicts, as their reason. Pure.

Work that got worse has the phase, and the rewriter or function in it, with which the additional
calls begin. Time that got worse has the phase that takes longer, and in it the pass of LLVM; a
longer import has its module, a larger peak of memory the phase that raises it, and more runs of
LLVM's passes the pass.
And where all calls together are as many as before, a part may still do much more, or a phase take
much longer than before, which the noise of the whole may hide: that is a remark, and the verdict
stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.rules import ONCE
from observatory.analyze.profiles.difference import main_part, main_phase
from observatory.analyze.profiles.import_times import import_change, imports_of
from observatory.analyze.profiles.judging import grown_parts, grown_passes
from observatory.analyze.profiles.llvm_passes import longer_pass, more_runs, pass_times
from observatory.analyze.profiles.samples import (
    Differences,
    grown_phase,
    larger_phase,
    longer_phase,
    memory_by_phase,
    phase_times,
    raised,
    traced,
)
from observatory.analyze.statements import JudgedVerdict, Statement
from observatory.benchmarks.catalogue import (
    METRICS,
    OF_WORK,
    SCENARIOS,
    Cell,
    Measure,
    headline_time,
)
from observatory.store.journal.values import values_of
from observatory.store.records.comparison import CALM
from observatory.store.records.profile import (
    LlvmPassTime,
    PartChange,
    PhaseTime,
    ProfileDifference,
)
from observatory.store.records.sample import Sample

_PEAK = "peak_rss"
_CALLS = "python_calls"
_PASSES = "llvm_pass_runs"
_IN_PHASE = {"rewriter": "rewriting", "module": "importing"}
"""The phase that a part of a kind is in, if it is the main phase."""
_NAMED = 3
"""Parts that a remark names, at most."""


def with_beginnings(
    verdicts: Sequence[JudgedVerdict], base: Evidence, head: Evidence
) -> list[JudgedVerdict]:
    """Return the verdicts, with a reason where the profiles of both sides have one."""
    cells = {one.cell for one in verdicts}

    def taken(measure: Measure) -> tuple[list[Sample], list[Sample]]:
        before, after = (
            [s for c in cells for s in side.taken(c, measure)] for side in (base, head)
        )
        return before, after

    work, times = Differences(*taken("tracing")), phase_times(*taken("timing"))
    before, after = map(traced, taken("tracing"))
    longer = {one.cell for one in verdicts if _takes_longer(one)}
    calls_more = {v.cell for v in verdicts if v.metric == _CALLS and v.conclusion == "worse"}

    def reason(one: JudgedVerdict) -> Statement | None:
        if one.metric == _PASSES:
            if one.conclusion in CALM and one.cell in work and work.repeated(one.cell):
                passes = grown_passes(work[one.cell])
                return _grown(passes, work[one.cell].pass_runs) if passes else None
            sides = (side.taken(one.cell, "tracing") for side in (base, head))
            return _passes_ran(*sides) if one.conclusion == "worse" else None
        if one.metric in OF_WORK and one.cell in work:
            if one.conclusion == "worse":
                # Where calls are no worse, the additional instructions are none of theirs.
                return _begins(one.cell, work[one.cell]) if one.cell in calls_more else None
            if one.conclusion in CALM and one.metric == _CALLS:
                untold = [] if one.cell in longer else times.get(one.cell, [])
                longest = pass_times(before.get(one.cell, []), after.get(one.cell, []))
                return _remark(work, one.cell, untold, longest)
        if one.conclusion == "worse":
            # Importing is judged once for a model, and a sample of any cell has the modules.
            samples = (s.samples if one.metric in ONCE else s.taken(one.cell) for s in (base, head))
            return where_it_begins(one.cell, one.metric, *samples)
        return None

    return [
        one.model_copy(update={"because": because}) if (because := reason(one)) else one
        for one in verdicts
    ]


def where_work_begins(
    cell: Cell, metric: str, bases: Sequence[Sample], heads: Sequence[Sample]
) -> Statement | None:
    """Return with what the additional work of a cell begins; None where profiles do not say.

    ``metric``: one of `OF_WORK`. Of LLVM's work that is a pass, and else a part of the calls.
    """
    if metric == _PASSES:
        return _passes_ran(*([s for s in side if s.cell == cell] for side in (bases, heads)))
    found = Differences(bases, heads).get(cell)
    return None if found is None else _begins(cell, found)


def _passes_ran(bases: Sequence[Sample], heads: Sequence[Sample]) -> Statement | None:
    """Which passes of LLVM ran more often in one cell; None where no profile says."""
    before, after = (
        [one.profile for one in side if one.profile is not None] for side in (bases, heads)
    )
    ran = more_runs(pass_times(before, after), _median(_PASSES, heads) - _median(_PASSES, bases))
    return None if ran is None else Statement("passes ran", ran)


def where_it_begins(
    cell: Cell, metric: str, bases: Sequence[Sample], heads: Sequence[Sample]
) -> Statement | None:
    """Return where a time, a wait or memory of a cell got worse; None where profiles do not say.

    Of a build's time and of its memory that is a phase, and of importing a module.
    """
    if metric in ONCE:
        old, new = (
            _median(metric, [one for one in side if one.cell.model == cell.model])
            for side in (bases, heads)
        )
        if new <= old:
            return None
        imported = import_change(imports_of(bases), imports_of(heads), new - old)
        return None if imported is None else Statement("imports more", (imported,))
    before, after = ([one for one in side if one.cell == cell] for side in (bases, heads))
    if metric == _PEAK:
        return _memory_begins(before, after)
    if metric in (headline_time(cell.scenario), "waiting_time"):
        found = longer_phase(phase_times(before, after).get(cell, []))
        if found is not None:
            passes = pass_times(*(traced(side).get(cell, []) for side in (before, after)))
            inside = longer_pass(passes, found[0])
            return Statement("time began", found if inside is None else (*found, inside))
    return None


def _memory_begins(bases: Sequence[Sample], heads: Sequence[Sample]) -> Statement | None:
    """Which phase raises the memory of one cell by more than before."""
    before, after = (
        [one for cell in raised(side).values() for one in cell] for side in (bases, heads)
    )
    if not before or not after:
        return None
    more = _median(_PEAK, heads) - _median(_PEAK, bases)
    phase = larger_phase(memory_by_phase(before, after), more)
    return phase and Statement("memory began", phase)


def _median(metric: str, samples: Iterable[Sample]) -> float:
    """The median of a metric that is not exact; 0 where no sample has it."""
    known = METRICS[metric]
    values = values_of(known, [one for one in samples if one.measure == known.measure])
    return median(values) if values else 0.0


def _begins(cell: Cell, found: ProfileDifference) -> Statement | None:
    if found.head <= found.base * (1 + (METRICS[_CALLS].material or 0.0)):
        return None  # additional instructions are not those of more Python calls
    part, phase = main_part(found), main_phase(found)
    if part is None:
        return None
    # Calls of a compiled function have one phase, which says nothing.
    if phase is None or part.kind == "phase" or SCENARIOS[cell.scenario].family == "call":
        return Statement("work began", (part,))
    # A part must not be read as if it were in a phase that it may be outside of.
    inside = part.kind == "function" or part.share + phase.share > 1
    inside = inside or _IN_PHASE.get(part.kind) == phase.name
    return Statement("work began", (part, phase) if inside else (part,))


def _takes_longer(one: JudgedVerdict) -> bool:
    return one.conclusion == "worse" and one.metric == headline_time(one.cell.scenario)


def _grown(parts: Sequence[PartChange], total: int) -> Statement:
    return Statement("part grew", (parts[:_NAMED], total))


def _remark(
    work: Differences, cell: Cell, times: Sequence[PhaseTime], passes: Sequence[LlvmPassTime]
) -> Statement | None:
    if work.repeated(cell) and (parts := grown_parts(work[cell])):
        return _grown(parts, work[cell].base)
    phase = grown_phase(times)
    if phase is None:
        return None
    inside = longer_pass(passes, phase)
    return Statement("phase grew", (phase,) if inside is None else (phase, inside))
