"""What the newest value of a series is like, in a few words and in multiples of its noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dashboard.observed import Observed, key_of
from dashboard.plain import shorten
from observatory.decide import units
from observatory.decide.changes import family_of
from observatory.decide.steps import PARAMETERS
from observatory.decide.track import UNUSUAL, Track
from observatory.record.alerts import State as AlertState

State = Literal["bad", "good", "doubt", "quiet"]
NEEDING: tuple[AlertState, ...] = ("new", "expired", "open")
"""States of alerts that need a person."""
_LABEL = 24


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
    unit = track.series.place.unit
    for alert, one in observed.alerts_of.get(key_of(track), ()):
        if alert.state == "resolved" or not one.holds:
            continue
        since = f"{_amount(track, one.before, one.after, unit)} since {_short(one.first_bad.label)}"
        if alert.state == "acknowledged":
            return Move("doubt", f"{since}, acknowledged", noise)
        return Move("bad", since, noise)
    if newest.before is None:
        return Move("quiet", "first value", "")
    if track.judgement != "judged":
        changed = newest.value != newest.before
        said = _amount(track, newest.before, newest.value, unit) if changed else "as before"
        return Move(
            "quiet", f"{said}, too few to judge" if track.judgement == "unfit" else said, ""
        )
    if recent := _recent(track):
        return recent
    if multiple is not None and abs(multiple) >= UNUSUAL:
        said = _amount(track, newest.before, newest.value, unit)
        return Move("doubt", f"{said}, not confirmed", noise)
    return Move("quiet", "as before", noise)


def _recent(track: Track) -> Move | None:
    """A step to the better among the last subjects: one to the worse is an alert."""
    bounds = track.bounds
    if len(bounds) < 3 or bounds[-1] - bounds[-2] > PARAMETERS.fewest:
        return None
    before, after = track.levels[-2:]
    if after >= before:
        return None
    since = _short(track.series.subject(bounds[-2]).label)
    return Move(
        "good", f"{_amount(track, before, after, track.series.place.unit)} since {since}", ""
    )


def _amount(track: Track, before: float, after: float, unit: str) -> str:
    """How much slower, faster, more or less; counts as they are."""
    family = family_of(track.series.place.metric)
    worse, better = ("slower", "faster") if unit == "seconds" else ("more", "less")
    word = worse if after > before else better
    if track.series.place.kind == "exact" or min(before, after) <= 0:
        return units.change(before, after, unit)
    return f"{units.amount(after / before, speed=family.speed)} {word}"


def _short(label: str) -> str:
    return shorten(label, _LABEL)
