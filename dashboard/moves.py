"""What the newest value of a series is like, in a few words and in multiples of its noise."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from dashboard.observed import Observed
from dashboard.plain import shorten
from observatory.decide import units
from observatory.decide.changes import family_of
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
        since = f"{amount(track, one.before, one.after)} since {_short(one.first_bad.label)}"
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
    before, after = track.levels[-2:]
    if after >= before:
        return None
    since = _short(track.series.subject(bounds[-2]).label)
    return Move("good", f"{amount(track, before, after)} since {since}", "")


def amount(track: Track, before: float, after: float) -> str:
    """How much slower, faster, more or less; counts as they are."""
    family, unit = family_of(track.series.place.metric), track.series.place.unit
    worse, better = ("slower", "faster") if unit == "seconds" else ("more", "less")
    word = worse if after > before else better
    if track.series.place.kind == "exact" or min(before, after) <= 0:
        return units.change(before, after, unit)
    return f"{units.amount(after / before, speed=family.speed)} {word}"


def _short(label: str) -> str:
    return shorten(label, _LABEL)
