"""What the profiles of two sides say, as a sentence: which part of a build does or takes more."""

from __future__ import annotations

from collections.abc import Sequence

from observatory.analyze.history.part_changes import GrownPart
from observatory.analyze.profiles.cells import CellProfile, difference_of, phase_times_of
from observatory.analyze.profiles.difference import culprit
from observatory.analyze.profiles.judging import counts_of_change
from observatory.analyze.profiles.samples import NOT_ATTRIBUTED
from observatory.store.records.profile import ImportChange, PartChange, PhaseMemory, PhaseTime
from observatory.text.units import change, human, percent, seconds
from observatory.text.words import several

_NO_ALARM = "the total number of calls raises no alarm"
"""True of one that is as before, and of one that changed by less than counts."""
_WHOLE = 1.05
"""A larger share of what was added is not only inexact."""
_NO_PHASE = {
    NOT_ATTRIBUTED: "what belongs to no known phase",
    "before the build": "what the process does before the build",
}
_NAMED = 3
"""Parts that the sentence on a subject names, at most."""


def culprit_sentence(part: PartChange, phase: PartChange | None = None) -> str:
    """The sentence on the part that a worsening is explained by, without a full stop.

    "`local_subtensor_merge` was entered 1,210 times, now 4,840; 71 % of the additional calls"

    ``phase``: the phase that most of the additional calls are in, which is then said first.
    """
    said = _culprit(part)
    if phase is None:
        return said
    return f"{percent(phase.share)} of the additional calls are in the phase `{phase.name}`; {said}"


def longer_sentence(phase: PhaseTime, share: float) -> str:
    """The sentence on the phase that a longer build is explained by, without a full stop."""
    more, levels = seconds(phase.head - phase.base), change(phase.base, phase.head, "seconds")
    return f"{_phase(phase.name)} takes {more} more ({levels}), {_share(share, 'time')}"


def memory_sentence(phase: PhaseMemory, share: float) -> str:
    """The sentence on the phase that a larger peak is explained by, without a full stop."""
    more, levels = human(phase.head - phase.base, "bytes"), change(phase.base, phase.head, "bytes")
    return (
        f"in the counting pass, {_phase(phase.name)} raises it by {more} more ({levels}), "
        f"{_share(share, 'memory')}"
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
    """The sentence on parts that do much more where all calls together are no alarm.

    ``total``: the calls of BASE.
    """
    said = "; ".join(f"{_counts(one)} ({percent(one.calls / total)} of all)" for one in parts)
    return f"{_NO_ALARM}, but {said}"


def grown_parts_sentence(parts: Sequence[GrownPart]) -> str:
    """The sentence on parts that do much more at one subject, the largest growth first."""
    said = "; ".join(
        f"{_counts(one.part)} ({percent(one.part.calls / one.total)} of all, in "
        f"{one.cells[0]}{_further(len(one.cells) - 1, 'cell')})"
        for one in parts[:_NAMED]
    )
    rest = _further(len(parts) - _NAMED, "part")
    return f"the total number of calls is as before, but {said}{rest}"


def _further(number: int, noun: str) -> str:
    return f" and {several(number, f'more {noun}')}" if number > 0 else ""


def grown_phase_sentence(phase: PhaseTime) -> str:
    """The sentence on a phase that takes much longer where all calls together are no alarm."""
    more, levels = seconds(phase.head - phase.base), change(phase.base, phase.head, "seconds")
    return f"{_NO_ALARM}, but {_phase(phase.name)} takes {more} more ({levels})"


def _counts(part: PartChange) -> str:
    before, after = counts_of_change(part)
    if part.kind == "function":
        return f"{_short(part.name)} was entered {before:,} times, now {after:,}"
    which = f"the phase `{part.name}`" if part.kind == "phase" else _short(part.name)
    return f"{which} made {before:,} calls, now {after:,}"


def _culprit(part: PartChange) -> str:
    name, share = _short(part.name), f"{percent(part.share)} of the additional calls"
    if part.kind == "phase":
        return f"the phase `{part.name}` made {part.base:,} calls, now {part.head:,} ({share})"
    if part.kind == "module":
        return f"{name} is imported, which makes {part.calls:,} calls ({share})"
    if part.new or not part.base:
        return f"{name} is new and makes {part.calls:,} calls ({share})"
    if part.head == part.base:
        return f"{name} is entered as often as before and makes {part.calls:,} more calls ({share})"
    before = "" if part.replaces is None else f" (before: {_short(part.replaces)})"
    times = "once" if part.base == 1 else f"{part.base:,} times"
    return f"{name}{before} was entered {times}, now {part.head:,} ({share})"


def import_sentence(module: ImportChange) -> str:
    """By which module importing takes longer, without a full stop.

    "`pandas` is newly imported, which takes 210 ms (in one sample)"
    """
    name = _quoted(module.name)
    if module.base is None:
        return f"{name} is newly imported, which takes {seconds(module.head)} (in one sample)"
    levels = change(module.base, module.head, "seconds")
    if module.replaces is not None:
        return f"{name} (before: {_quoted(module.replaces)}) takes {levels} (in one sample)"
    return f"{name} takes by itself {levels} (in one sample)"


def difference_sentence(base: CellProfile, head: CellProfile) -> str:
    """What HEAD does more often or for longer, without a full stop; empty if nothing is known."""
    found = difference_of(base, head)
    if found is not None:
        part = culprit(found) if found.head > found.base else None
        calls = f"Python calls: {change(found.base, found.head, 'calls')}"
        return calls if part is None else f"{calls}; {culprit_sentence(part)}"
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
