"""What the profiles of two sides say, as a sentence: which part of a build does or takes more."""

from __future__ import annotations

from collections.abc import Sequence

from observatory.analyze.history.part_changes import GrownPart
from observatory.analyze.profiles.cells import CellProfile, difference_of, phase_times_of
from observatory.analyze.profiles.difference import main_part
from observatory.analyze.profiles.judging import counts_of_change
from observatory.analyze.profiles.samples import NOT_ATTRIBUTED
from observatory.store.records.profile import (
    ImportChange,
    LlvmPassTime,
    PartChange,
    PhaseMemory,
    PhaseTime,
)
from observatory.text.units import change, count, human, percent, seconds
from observatory.text.words import several

_NO_ALARM = "the total number of {} raises no alarm"
"""True of one that is as before, and of one that changed by less than counts."""
_CALLS, _RUNS = "calls", "runs of LLVM passes"
_WHOLE = 1.05
"""A larger share of what was added is not only inexact."""
_NO_PHASE = {
    NOT_ATTRIBUTED: "what belongs to no known phase",
    "before the build": "what the process does before the build",
}
_NAMED = 3
"""Parts that the sentence on a subject names, at most."""


def main_part_sentence(part: PartChange, phase: PartChange | None = None) -> str:
    """The sentence on the part that a worsening is explained by, without a full stop.

    "`local_subtensor_merge` was entered 1,210 times, now 4,840; 71 % of the additional calls"

    ``phase``: the phase that most of the additional calls are in, which is then said first.
    """
    said = _main_part(part)
    if phase is None:
        return said
    return f"{percent(phase.share)} of the additional calls are in the phase `{phase.name}`; {said}"


def longer_sentence(phase: PhaseTime, share: float, inside: LlvmPassTime | None = None) -> str:
    """The sentence on the phase that a longer build is explained by, without a full stop.

    ``inside``: the pass of LLVM that the phase takes longer by.
    """
    more, levels = seconds(phase.head - phase.base), change(phase.base, phase.head, "seconds")
    said = f"{_phase(phase.name)} takes {more} more ({levels}), {_share(share, 'time')}"
    return said + _inside(inside)


def _inside(one: LlvmPassTime | None) -> str:
    """The pass of LLVM that takes longer, as the end of the sentence on its phase."""
    if one is None:
        return ""
    more, levels = seconds(one.head - one.base), change(one.base, one.head, "seconds")
    where = f"{levels} of CPU time, in {several(one.samples, 'sample')} of each side"
    ran = ""
    if one.base_runs and one.head_runs and one.base_runs != one.head_runs:
        ran = f", and ran {_times(round(one.base_runs))}, now {count(round(one.head_runs))}"
    return f"; in it, the LLVM pass {_quoted(one.name)} takes {more} more ({where}){ran}"


def passes_sentence(main: LlvmPassTime | None, grown: int, known: int) -> str:
    """The sentence on LLVM's passes that run more often, without a full stop.

    ``main``: the pass that explains enough of it. ``grown``: how many passes run more often, of
    ``known`` in the profile.
    """
    if main is None or main.head_runs is None:
        return f"{grown} of the {known} LLVM passes that the profile names ran more often"
    if not main.base_runs:
        said = f"did not run before, and ran {_times(round(main.head_runs))}"
    else:
        said = f"ran {_times(round(main.base_runs))}, now {count(round(main.head_runs))}"
    rest = f"; {several(grown - 1, 'other')} ran more often" if grown > 1 else ""
    return f"the LLVM pass {_quoted(main.name)} {said}{rest}"


def memory_sentence(phase: PhaseMemory, share: float) -> str:
    """The sentence on the phase that a larger peak is explained by, without a full stop."""
    more, levels = human(phase.head - phase.base, "bytes"), change(phase.base, phase.head, "bytes")
    return (
        f"in the counting pass, {_phase(phase.name)} raises it by {more} more ({levels}), "
        f"{percent(min(1.0, share))} of the additional memory"
    )


def _share(share: float, noun: str) -> str:
    """The share of a phase in what was added; other phases may have lost as much."""
    if share > _WHOLE:
        return f"all of the additional {noun} and more: other phases take less"
    return f"{percent(min(1.0, share))} of the additional {noun}"


def _phase(name: str) -> str:
    """What takes seconds or memory; what belongs to no phase is told in words."""
    return _NO_PHASE.get(name, f"the phase `{name}`")


def grown_sentence(parts: Sequence[PartChange], total: int) -> str:
    """The sentence on parts that do much more where all calls, or runs, together are no alarm.

    ``parts``: all are passes of LLVM, or none is. ``total``: the calls or runs of BASE.
    """
    no_alarm = _NO_ALARM.format(_RUNS if parts[0].kind == "pass" else _CALLS)
    return f"{no_alarm}, but {'; '.join(f'{_counts(one, total)})' for one in parts)}"


def grown_parts_sentence(parts: Sequence[GrownPart]) -> str:
    """The sentence on parts that do much more at one subject, the largest growth first."""
    said = "; ".join(
        f"{_counts(one.part, one.total)}, in {one.cells[0]}{_further(len(one.cells) - 1, 'cell')})"
        for one in parts[:_NAMED]
    )
    rest = _further(len(parts) - _NAMED, "part")
    kinds = {_RUNS if one.part.kind == "pass" else _CALLS for one in parts[:_NAMED]}
    totals = " and ".join(f"the total number of {each}" for each in sorted(kinds))
    return f"{totals} {'is' if len(kinds) == 1 else 'are'} as before, but {said}{rest}"


def _further(number: int, noun: str) -> str:
    return f" and {several(number, f'more {noun}')}" if number > 0 else ""


def grown_phase_sentence(phase: PhaseTime, inside: LlvmPassTime | None = None) -> str:
    """The sentence on a phase that takes much longer where all calls together are no alarm.

    ``inside``: the pass of LLVM that the phase takes longer by.
    """
    more, levels = seconds(phase.head - phase.base), change(phase.base, phase.head, "seconds")
    took = f"{_phase(phase.name)} takes {more} more ({levels}){_inside(inside)}"
    return f"{_NO_ALARM.format(_CALLS)}, but {took}"


def _counts(part: PartChange, total: int) -> str:
    """How much a part did and does, and how much more that is; a bracket stays open.

    ``total``: the calls of the whole build in BASE; of a pass of LLVM, the runs.
    """
    before, after = counts_of_change(part)
    if part.kind == "pass":
        ran = f"ran {_times(before)}, now {count(after)}"
        return (
            f"the LLVM pass {_quoted(part.name)} {ran} (+{percent(part.calls / total)} of all runs"
        )
    more = f"+{percent(part.calls / total)} of all calls"
    if part.kind == "function":
        if part.calls != after - before:
            more = f"{several(part.calls, 'more call')} begin with it, {more}"
        return f"{_short(part.name)} was entered {_times(before)}, now {count(after)} ({more}"
    which = _phase(part.name) if part.kind == "phase" else _short(part.name)
    return f"{which} made {several(before, 'call')}, now {count(after)} ({more}"


def _main_part(part: PartChange) -> str:
    name, share = _short(part.name), f"{percent(part.share)} of the additional calls"
    before = _replaced(part)
    if part.kind == "phase":
        said = f"the phase `{part.name}` made {several(part.base, 'call')}, now {count(part.head)}"
    elif part.kind == "module":
        more = several(part.calls, "call" if part.new else "more call")
        said = f"{name}{before} is {'newly ' * part.new}imported, which makes {more}"
    elif part.new or not part.base:
        said = f"{name} is new and makes {several(part.calls, 'call')}"
    elif part.head == part.base:
        more = several(part.calls, "more call")
        said = f"{name}{before} is entered as often as before and makes {more}"
    else:
        said = f"{name}{before} was entered {_times(part.base)}, now {count(part.head)}"
        if part.calls != part.head - part.base:
            said += f", and {several(part.calls, 'more call')} begin with it"
    return f"{said} ({share})"


def _replaced(part: PartChange) -> str:
    """What a part was in BASE, if it has another name there."""
    if part.replaces is None:
        return ""
    if part.kind == "function" and _short(part.replaces) == _short(part.name):
        return f" (moved from {_quoted(part.replaces.partition(':')[0])})"
    return f" (in place of {_short(part.replaces)})"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{count(number)} times"


def import_sentence(module: ImportChange) -> str:
    """By which module importing takes longer, without a full stop.

    "`pandas` is newly imported, which takes 210 ms (in one sample)"
    """
    name = _quoted(module.name)
    if module.base is None:
        return f"{name} is newly imported, which takes {seconds(module.head)} (in one sample)"
    levels = change(module.base, module.head, "seconds")
    if module.replaces is not None:
        return f"{name} (in place of {_quoted(module.replaces)}) takes {levels} (in one sample)"
    return f"{name} takes by itself {levels} (in one sample)"


def difference_sentence(base: CellProfile, head: CellProfile) -> str:
    """What HEAD does more often or for longer, without a full stop; empty if nothing is known."""
    found = difference_of(base, head)
    if found is not None:
        part = main_part(found)
        calls = f"Python calls: {change(found.base, found.head, 'calls')}"
        return calls if part is None else f"{calls}; {main_part_sentence(part)}"
    times = phase_times_of(base, head)
    if not times:
        return ""
    most = max(times, key=lambda one: abs(one.head - one.base))
    return f"{most.name}: {change(most.base, most.head, 'seconds')}"


def _short(name: str) -> str:
    """The name of a function without its module, in backticks."""
    return _quoted(name.partition(":")[2] or name)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '')}`"
