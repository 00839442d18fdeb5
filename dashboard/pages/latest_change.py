"""The newest subject against the one before it, without a script: as the compare page has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.pages.newest_value import amount
from dashboard.site_input import SiteInput
from dashboard.verdict_data import rule_of_track
from observatory.analyze.comparison.pairs import Pair
from observatory.analyze.comparison.rules import judged_values
from observatory.analyze.history.segments import SegmentedSeries
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
    pair = observed.pairs.get((base, head))
    found = list(_of_pair(pair) if pair else _by_rules(observed, line))
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


def _by_rules(observed: SiteInput, line: Line) -> Iterator[ChangedSeries]:
    last = len(line.subjects) - 1
    for track in observed.tracks:
        series, place = track.series, track.series.place
        if series.line is not line or series.at[-2:].tolist() != [last - 1, last]:
            continue
        before, after = _compared(track)
        rule = rule_of_track(track, {})
        off = bool(track.off[-2:].any())
        if judged_values(rule, before, after, off) in ("worse", "better"):
            assert before is not None
            assert after is not None
            yield ChangedSeries(
                shorten(series.benchmark, 160), shorten(place.metric, 40),
                units.human(before, place.unit), units.human(after, place.unit),
                amount(track, before, after),
            )  # fmt: skip


def _compared(track: SegmentedSeries) -> tuple[float | None, float | None]:
    """What the rule is applied to: values of counts, levels of what is noisy."""
    if track.series.place.kind != "noisy":
        return tuple(track.series.values[-2:].tolist())
    return tuple(track.expected[-2:].tolist()) if track.judgement == "judged" else (None, None)
