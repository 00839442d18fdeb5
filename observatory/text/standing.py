"""How the alerts stand, in words: what is new first, and then what waits."""

from __future__ import annotations

from collections.abc import Sequence

from observatory.analyze.history.standing import Standing
from observatory.store.records.alerts import Alert
from observatory.text.plain import clean
from observatory.text.words import listed, several

_NAMED = 2


def news(found: Standing) -> str:
    """What is new since the last run, as a sentence."""
    if found.failed:
        return "The newest run failed."
    if not found.new:
        return "Nothing new."
    return f"{several(len(found.new), 'new alert')}: {_kinds(found.new)}."


def waiting(found: Standing) -> str:
    """What is old and open, as sentences; empty if nothing is."""
    parts = []
    if number := len(found.waiting):
        verb = "waits" if number == 1 else "wait"
        parts.append(f"{several(number, 'older alert')} {verb} for a decision.")
    if found.acknowledged:
        parts.append(f"{several(len(found.acknowledged), 'alert')} acknowledged.")
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
        return "New alert" if found.new and not found.wrong else "Wrong"
    if found.waiting:
        return "Decide"
    if found.late:
        return "Some machines send nothing"
    return "All well" if found.light == "good" else "Nothing judged yet"


def _kinds(alerts: Sequence[Alert]) -> str:
    """The kinds of alerts, each with the subject it began at."""
    named = [f"{clean(one.kind)} since {clean(one.first_bad.label)}" for one in alerts]
    rest = len(named) - _NAMED
    return listed(named[:_NAMED] + ([f"{rest} more"] if rest > 0 else []))
