"""The newest subject against the one before it, without a script: what counts and levels say."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.data import alerting
from dashboard.moves import amount
from dashboard.observed import Observed
from dashboard.plain import shorten
from observatory.decide import units
from observatory.decide.steps import PARAMETERS
from observatory.decide.track import Track

MOST = 100


@dataclass(frozen=True)
class Row:
    """A series in which the two differ."""

    cell: str
    metric: str
    before: str
    after: str
    words: str


@dataclass(frozen=True)
class LatestChange:
    """What differs, of the line with most subjects; ``title`` says of which two, or is empty."""

    title: str
    rows: tuple[Row, ...]


def latest_change(observed: Observed) -> LatestChange:
    """Counts that can alarm are compared plainly, times by the levels that they are in."""
    lines = [line for line in observed.lines if len(line.subjects) > 1]
    if not lines:
        return LatestChange("", ())
    line = max(lines, key=lambda one: (len(one.subjects), one.subjects[-1].date))
    last = len(line.subjects) - 1
    found = [
        row
        for track in observed.tracks
        if track.series.line is line and (row := _row(track, last)) is not None
    ]
    new, old = (shorten(line.subjects[place].label, 40) for place in (last, last - 1))
    many = f"{units.count(len(found))} differ" if found else "no count and no level differs"
    return LatestChange(f"{new} against {old}: {many}", tuple(found[:MOST]))


def _row(track: Track, last: int) -> Row | None:
    series, place = track.series, track.series.place
    if len(series.at) < 2 or series.at[-1] != last or series.at[-2] != last - 1:
        return None
    if alerting(place):
        before, after = series.values[-2:].tolist()
    elif track.judgement == "judged":
        before, after = track.expected[-2:].tolist()
        if max(before, after) < min(before, after) * (1 + PARAMETERS.smallest):
            return None
    else:
        return None
    if before == after:
        return None
    return Row(
        shorten(series.benchmark, 160), shorten(place.metric, 40), units.human(before, place.unit),
        units.human(after, place.unit), amount(track, before, after),
    )  # fmt: skip
