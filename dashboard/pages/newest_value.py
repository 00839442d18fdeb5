"""What the newest value of a series is like, in a few words and in multiples of its noise."""

from __future__ import annotations

from typing import Literal, NamedTuple

from observatory.analyze.history.newest import NewestState
from observatory.analyze.history.segments import SegmentedSeries
from observatory.dashboard.site_input import SiteInput
from observatory.text import sizes, units
from observatory.text.plain import shorten

State = Literal["bad", "good", "doubt", "quiet"]
_LABEL = 24


class NewestChange(NamedTuple):
    """The newest value in words; ``noise`` is its distance, "1.2x noise", or empty if unknown."""

    state: State
    words: str
    noise: str = ""


def newest_change(observed: SiteInput, track: SegmentedSeries) -> NewestChange:
    """Describe the newest value of a series: its alert, or else what became of it."""
    found = observed.verdicts_on(track).state
    multiple = track.multiple
    noise = "" if multiple is None else f"{abs(multiple):.1f}\N{MULTIPLICATION SIGN} noise"
    change = _in_words(track, found)
    if found.alert is not None:
        since = f"{change} since {shorten(found.alert.first_bad.label, _LABEL)}"
        if found.kind == "acknowledged":
            return NewestChange("doubt", f"{since}, acknowledged", noise)
        if found.kind == "event":
            return NewestChange("quiet", f"{since}, on purpose", noise)
        return NewestChange("bad", since, noise)
    if found.since is not None:
        since = shorten(track.series.subject(found.since).label, _LABEL)
        return NewestChange("good", f"{change} since {since}")
    if found.kind == "first":
        return NewestChange("quiet", "first value")
    if found.kind == "too few":
        return NewestChange("quiet", f"{change}, too few values")
    if found.kind == "unusual" and (machine := observed.machine_change_of(track)) is not None:
        if machine.alike is not None and (found.after > found.before) != (machine.alike.ratio > 1):
            # Its level is older than the subject before, from which the machine moved it back.
            *_, before, after = track.series.values.tolist()
            earlier = shorten(track.series.subject(-2).label, _LABEL)
            change = f"{amount(track, before, after)} against {earlier}"
        return NewestChange("quiet", f"{change}; the machine likely changed")
    if found.kind == "unusual":
        return NewestChange("doubt", f"{change}, not confirmed", noise)
    return NewestChange("quiet", change, "" if found.kind == "described" else noise)


def _in_words(track: SegmentedSeries, found: NewestState) -> str:
    """The change in a few words."""
    if found.change is not None:
        if found.drifting and found.change.ratio is not None:
            unit = track.series.place.unit
            return f"drifts: {sizes.drifting(found.change, found.change.ratio, unit)[0]}"
        return sizes.brief(found.change, track.series.place.unit)
    changed = found.before != found.after
    return amount(track, found.before, found.after) if changed else "as before"


def amount(track: SegmentedSeries, before: float, after: float) -> str:
    """The change of a value in words: relative for measurements, both values for counts."""
    unit = track.series.place.unit
    if track.series.place.kind == "exact" or min(before, after) <= 0:
        return units.change(before, after, unit)
    return units.effect(before, after, unit)
