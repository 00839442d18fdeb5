"""How the alerts stand, in words: what is new first, and then what waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from observatory.analyze.history.machine_changes import MachineChange
from observatory.analyze.history.standing import Standing
from observatory.store.records.alerts import Alert
from observatory.text.plain import clean
from observatory.text.statements import times_moved_alike
from observatory.text.titles import title_of
from observatory.text.units import count
from observatory.text.words import listed, several

_NAMED = 2


def news(found: Standing) -> str:
    """What is new since the last run, as sentences.

    Empty if the only news is that machines send nothing, which `waiting` tells.
    """
    parts = ["The newest run failed."] if found.failed else []
    if found.new:
        parts.append(f"{several(len(found.new), 'new alert')}: {_kinds(found.new)}.")
    if not parts and all(one.state != "new" for one in found.late):
        parts = ["Nothing new."]
    return " ".join(parts)


def waiting(found: Standing) -> str:
    """What is old and open, as sentences; empty if nothing is."""
    parts = []
    if number := len(found.waiting):
        verb = "waits" if number == 1 else "wait"
        first = f", first {_kinds(found.wrong)}" if found.wrong and number > 1 else ""
        parts.append(f"{several(number, 'older alert')} {verb} for a decision{first}.")
    if number := len(found.acknowledged):
        verb = "is" if number == 1 else "are"
        parts.append(f"{several(number, 'alert')} {verb} acknowledged.")
    if number := len(found.late):
        parts.append(f"{several(number, 'environment')} sent nothing new.")
    return " ".join(parts)


def status(found: Standing, late: bool) -> str:
    """The state in a word or two; ``late``: whether every machine sends nothing new."""
    if found.failed:
        return "The last run failed"
    if late:
        return "Stale"
    if found.light == "bad":
        return "New alert" if found.new and not (found.wrong or found.untold) else "Wrong"
    if found.waiting:
        return "Decide"
    if found.late:
        return "Some machines send nothing"
    return "All well" if found.light == "good" else "Nothing judged yet"


def of_the_machine(found: MachineChange) -> str:
    """Why a change is rather one of the machine; without a full stop."""
    if found.alike is not None:
        return times_moved_alike(found.alike)
    return (
        f"{count(found.moved)} of {count(found.measured)} series that are judged changed at the "
        "same subject: the machine (its processor, system or load) has probably changed, not the "
        "code; measure both again, side by side, before you look for a commit"
    )


def _kinds(alerts: Sequence[Alert]) -> str:
    """The kinds of alerts, and since when for one alone: the list below says it of each."""
    if len(alerts) == 1:
        return f"{title_of(alerts[0].kind)} since {clean(alerts[0].first_bad.label)}"
    kinds = Counter(title_of(one.kind) for one in alerts)
    named = [f"{kind} ({number})" if number > 1 else kind for kind, number in kinds.items()]
    rest = len(named) - _NAMED
    return listed(named[:_NAMED] + ([f"{rest} more"] if rest > 0 else []))
