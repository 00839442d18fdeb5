"""What the newest value of a series is like, in a few words and in multiples of its noise."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from dashboard.observed import Observed
from dashboard.plain import shorten
from observatory.decide import sizes, units
from observatory.decide.changes import DRIFT
from observatory.decide.track import UNUSUAL, Track
from observatory.record.alerts import State as AlertState

State = Literal["bad", "good", "doubt", "quiet"]
NEEDING: tuple[AlertState, ...] = ("new", "expired", "open")
"""States of alerts that need a person."""
_LABEL = 24
_RECENT = timedelta(days=14)


@dataclass(frozen=True)
class Move:
    """In words how a series stands; ``noise`` is "1.2 x noise", or empty where it is not known."""

    state: State
    words: str
    noise: str


def move(observed: Observed, track: Track) -> Move:
    """An alert first, then a recent step, then the newest value alone."""
    newest = track.newest
    multiple = newest.multiple
    noise = "" if multiple is None else f"{abs(multiple):.1f}\N{MULTIPLICATION SIGN} noise"
    for alert, one in observed.alerts_on(track):
        if alert.state == "resolved" or not one.holds:
            continue
        said = sizes.brief(one, one.unit)
        if one.kind == "exact":
            said = amount(track, one.before, one.after)
        elif one.ratio is not None and alert.kind.startswith(DRIFT):
            said = f"drifts: {sizes.drifting(one, one.ratio, one.unit)[0]}"
        since = f"{said} since {_short(one.first_bad.label)}"
        if alert.state == "acknowledged":
            return Move("doubt", f"{since}, acknowledged", noise)
        return Move("bad", since, noise)
    if newest.before is None:
        return Move("quiet", "first value", "")
    if track.judgement != "judged":
        changed = newest.value != newest.before
        said = amount(track, newest.before, newest.value) if changed else "as before"
        return Move(
            "quiet", f"{said}, too few to judge" if track.judgement == "unfit" else said, ""
        )
    if recent := _recent(track):
        return recent
    if multiple is not None and abs(multiple) >= UNUSUAL:
        said = amount(track, newest.before, newest.value)
        return Move("doubt", f"{said}, not confirmed", noise)
    return Move("quiet", "as before", noise)


def _recent(track: Track) -> Move | None:
    """A step to the better within the last two weeks: one to the worse is an alert."""
    bounds, series = track.bounds, track.series
    if len(bounds) < 3:
        return None
    age = series.line.subjects[-1].date - series.subject(bounds[-2]).date
    if age > _RECENT:
        return None
    if track.judgement == "exact":
        before, after = track.levels[-2:]
        worse, said = after >= before, amount(track, before, after)
    else:
        step = track.steps[-1]
        worse, said = step.worse, sizes.brief(step, series.place.unit)
    if worse:
        return None
    return Move("good", f"{said} since {_short(series.subject(bounds[-2]).label)}", "")


def amount(track: Track, before: float, after: float) -> str:
    """What became of a value, in a word and relative to it; counts as they are."""
    unit = track.series.place.unit
    if track.series.place.kind == "exact" or min(before, after) <= 0:
        return units.change(before, after, unit)
    return units.effect(before, after, unit)


def _short(label: str) -> str:
    return shorten(label, _LABEL)
