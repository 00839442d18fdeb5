"""The newest subject against the one before it, without a script: as the compare page has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.pages.newest_value import amount
from dashboard.site_input import SiteInput
from dashboard.verdict_data import unpacked
from observatory.analyze.comparison.pairs import Pair
from observatory.analyze.history.series import Line
from observatory.text import units
from observatory.text.plain import shorten

MOST = 100


@dataclass(frozen=True)
class ChangedSeries:
    """A series in which the newer of the two is worse or better."""

    cell: str
    metric: str
    before: str
    after: str
    words: str


@dataclass(frozen=True)
class LatestChange:
    """What got worse or better, on the line with most subjects.

    ``title`` says which two subjects these are; it is empty where there are no two.
    """

    title: str
    rows: tuple[ChangedSeries, ...]


def latest_change(observed: SiteInput) -> LatestChange:
    """The finished verdicts where the two were compared; else what the rules say of each series."""
    lines = [line for line in observed.lines if len(line.subjects) > 1]
    if not lines:
        return LatestChange("", ())
    line = max(lines, key=lambda one: (len(one.subjects), one.subjects[-1].date))
    base, head = ((line.machine, line.env_name, one.commit) for one in line.subjects[-2:])
    own = observed.pairs.get(head)
    pair = unpacked(own, base) if own and base in own.bases else None
    found = list(_of_pair(pair) if pair else _of_series(observed, line))
    new, old = (shorten(one.label, 40) for one in reversed(line.subjects[-2:]))
    calm = "nothing got worse or better" if pair else "no count or level differs"
    many = f"{units.count(len(found))} differ" if found else calm
    return LatestChange(f"{new} against {old}: {many}", tuple(found[:MOST]))


def _of_pair(pair: Pair) -> Iterator[ChangedSeries]:
    for one in pair.findings:
        if one.conclusion in ("worse", "better") and None not in (one.before, one.after):
            before, after = one.before or 0.0, one.after or 0.0
            yield ChangedSeries(
                one.cell, one.metric, units.human(before, one.unit), units.human(after, one.unit),
                f"{one.conclusion}: {units.change(before, after, one.unit)}",
            )  # fmt: skip


def _of_series(observed: SiteInput, line: Line) -> Iterator[ChangedSeries]:
    last = len(line.subjects) - 1
    for track in observed.tracks:
        series, place = track.series, track.series.place
        if series.line is not line or series.at[-2:].tolist() != [last - 1, last]:
            continue
        if observed.verdicts_on(track).last in ("worse", "better"):
            levels = track.expected if place.kind == "noisy" else series.values
            before, after = levels[-2:].tolist()
            yield ChangedSeries(
                shorten(series.benchmark, 160), shorten(place.metric, 40),
                units.human(before, place.unit), units.human(after, place.unit),
                amount(track, before, after),
            )  # fmt: skip
