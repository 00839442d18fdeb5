"""What changed: with the newest subject, and at every subject before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from observatory.analyze.comparison.comparing import Pair
from observatory.analyze.history.alerts import FAILED, STALE
from observatory.analyze.history.contrasts import conclusion_of_run
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import Line
from observatory.dashboard.pages.newest_value import amount
from observatory.dashboard.site_input import SiteInput, Spot
from observatory.dashboard.verdict_data import unpacked
from observatory.store.records.alerts import Alert, Alerts, Change
from observatory.text import units
from observatory.text.alerts import found_still
from observatory.text.plain import begun, shorten
from observatory.text.titles import title_of

MOST = 100
MOST_SUBJECTS = 60
_SENTENCE = 400
_EVENTS = 12


def latest_change(
    observed: SiteInput,
) -> tuple[str, list[tuple[str, ...]], tuple[Spot, Spot] | None]:
    """The newest subject against the one before it, on the line with most subjects.

    The first text says which two subjects these are; it is empty where there are no two. The rows
    are the series that are worse or better: cell, metric, before, after, and words. They are the
    finished verdicts if the two were compared, or else what the rules say of each series. The last
    are the places of the two.
    """
    lines = [line for line in observed.lines if len(line.subjects) > 1]
    if not lines:
        return "", [], None
    line = max(lines, key=lambda one: (len(one.subjects), one.subjects[-1].date))
    base, head = ((line.machine, line.env_name, one.commit) for one in line.subjects[-2:])
    own = observed.pairs.get(head)
    pair = unpacked(own, base) if own and base in own.bases else None
    found = list(_of_pair(pair) if pair else _of_series(observed, line))
    old, new = (shorten(one.label, 40) for one in line.subjects[-2:])
    calm = "nothing got worse or better" if pair else "no count or level differs"
    many = f"{units.count(len(found))} differ" if found else calm
    number, last = observed.line_numbers[id(line)], len(line.subjects) - 1
    places = (number, last - 1), (number, last)
    return f"{new} against {old}: {many}", found[:MOST], places


def _of_pair(pair: Pair) -> Iterator[tuple[str, ...]]:
    for one in pair.findings:
        before, after, unit = one.before, one.after, one.unit
        if one.conclusion in ("worse", "better") and before is not None and after is not None:
            yield (
                one.cell, one.metric, units.human(before, unit), units.human(after, unit),
                f"{one.conclusion}: {units.change(before, after, unit)}",
            )  # fmt: skip


def _of_series(observed: SiteInput, line: Line) -> Iterator[tuple[str, ...]]:
    last = len(line.subjects) - 1
    for track in observed.tracks:
        series, place = track.series, track.series.place
        if series.line is not line or series.at[-2:].tolist() != [last - 1, last]:
            continue
        levels = track.expected if place.kind == "noisy" else series.values
        words = ""
        if observed.verdicts_on(track).last in ("worse", "better"):
            words = amount(track, *levels[-2:].tolist())
        elif _of_run(track, last) in ("worse", "better"):
            levels = series.values
            old, new = levels[-2:].tolist()
            words = f"{units.effect(old, new, place.unit)}, within one run only"
        if words:
            before, after = levels[-2:].tolist()
            yield (
                shorten(series.benchmark, 160), shorten(place.metric, 40),
                units.human(before, place.unit), units.human(after, place.unit), words,
            )  # fmt: skip
        track.forget()


def _of_run(track: SegmentedSeries, last: int) -> str | None:
    """What the rounds of the two newest subjects say, where a series is too short for levels."""
    if track.judgement != "unfit" or track.series.place.model:
        return None
    return conclusion_of_run(track.series, last - 1, last)


def timeline(alerts: Alerts, pages: frozenset[str]) -> dict[str, Any]:
    """The changes at the newest subjects that had any, and the number of older such subjects.

    ``pages``: the ids of alerts that have a page. Each subject has its label, date and events, and
    the number of events left out. An event has a kind, the state of its alert (empty for an
    improvement), a sentence and a link.
    """
    found: dict[tuple[datetime, str], list[Change]] = defaultdict(list)
    for change in (*alerts.alerts, *alerts.improvements):
        if change.kind not in (STALE, FAILED) and found_still(change):
            found[change.first_bad.date, change.first_bad.label].append(change)
    chapters = []
    for date, label in sorted(found, reverse=True)[:MOST_SUBJECTS]:
        changes = found[date, label]
        events = [_event(change, pages) for change in changes[:_EVENTS]]
        chapters.append((shorten(label, 60), date, events, len(changes) - len(events)))
    return {"chapters": chapters, "older": len(found) - len(chapters)}


def _event(change: Change, pages: frozenset[str]) -> tuple[str, str, str, str]:
    state = change.state if isinstance(change, Alert) else ""
    link = f"alerts/{change.id}.html" if state and change.id in pages else ""
    return title_of(change.kind), state, begun(change.sentence, _SENTENCE), link
