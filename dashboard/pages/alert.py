"""A page for each alert: what, since when, on which evidence, whose commit, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import quote_plus

from observatory.analyze.history.suspects import SuspectedRange
from observatory.analyze.sentinel import moved_near
from observatory.benchmarks.catalogue import CAUSES
from observatory.dashboard.drawing.panels import Table
from observatory.dashboard.drawing.series import picture
from observatory.dashboard.pages.culprits import crossings_view, searches_view
from observatory.dashboard.pages.next_steps import decisions, steps
from observatory.dashboard.pages.suspects import suspects_view
from observatory.dashboard.site_input import SiteInput, spot_name
from observatory.store.records.alerts import Alert, At, SeriesChange
from observatory.text import sizes, units
from observatory.text.alerts import between, found_still, with_page
from observatory.text.forge import Forge
from observatory.text.plain import clean, shorten
from observatory.text.sentinel import of_the_night
from observatory.text.standing import of_the_machine
from observatory.text.titles import title_of
from observatory.text.words import several

_PICTURES = 4
_SERIES = 200
_FUNCTIONS = 200
Pictured = Callable[[SiteInput, int, SeriesChange, At | None], Any]
_NOTES = {"file": "how many of it are left in one sample"}


@dataclass(frozen=True)
class SeriesRow:
    """One affected series; ``link`` leads to its chart and is empty if there is none."""

    name: str
    link: str
    metric: str
    change: str
    newest: str
    holds: str
    where: str


def alert_page(
    observed: SiteInput, alert: Alert, forge: Forge, pictured: Pictured = picture
) -> dict[str, Any]:
    """The values of `alert.html.j2`; ``pictured`` gives the picture of a series, in any form."""
    found = observed.found.of_change(alert)
    shown = {
        number: one
        for one in alert.series
        for number in observed.by_key.get(one.key, ())
        if one.first_bad.commit in observed.tracks[number].series.commits
    }
    roles = {
        "last good": alert.last_good, "first bad": alert.first_bad,
        "resolved by": alert.resolved_by,
    }  # fmt: skip
    event = alert.state == "event"
    inside = observed.ranges.get(alert.id, SuspectedRange())
    when = observed.alerts.newest or alert.state_since
    return {
        "alert": alert,
        "title": title_of(alert.kind),
        "sentence": clean(alert.sentence),
        "span": between(alert),
        "places": [
            (role, clean(at.label), at.date, clean(at.commit)[:12], forge.of(at.label, at.commit))
            for role, at in roles.items() if at
        ],
        "gap": alert.between if found_still(alert) else 0,
        "where": _where(alert),
        "event": event,
        "advice": CAUSES[alert.kind].advice if alert.kind in CAUSES else "",
        "notes": [clean(note) for note in alert.notes],
        "resolution": _resolution(observed, alert),
        "pictures": [
            pictured(observed, number, one, alert.resolved_by)
            for number, one in islice(shown.items(), _PICTURES)
        ],
        "machine": _of_the_machine(observed, alert),
        "rows": list(_series(observed, alert)),
        "several": len({(one.machine, one.env_name) for one in alert.series}) > 1,
        "count": f"{units.count(len(alert.series))} series{_more(len(alert.series))}",
        "functions": _functions(alert) if alert.functions else None,
        "graphs": _graphs(alert) if alert.graphs else None,
        "of_files": alert.kind in CAUSES and CAUSES[alert.kind].noun == "file",
        "steps": list(steps(alert, len(inside.suspects))),
        "decisions": [] if event else decisions(alert, forge, when),
        "age": (when - alert.first_seen).days,
        "suspects": suspects_view(inside, forge) if alert.last_good else None,
        "searches": searches_view(found.searches, forge),
        "crossings": crossings_view(found.crossings),
        "named": any(each.commits for one in found.searches for each in one.culprits),
        "links": list(_links(observed, alert, forge)),
    }  # fmt: skip


def _where(alert: Alert) -> list[tuple[str, str]]:
    """The machines and environments of its series, or what a run is of."""
    found = dict.fromkeys((clean(one.machine), clean(one.env_name)) for one in alert.series)
    return list(found) or ([(clean(alert.about), "")] if alert.about else [])


def _resolution(observed: SiteInput, alert: Alert) -> list[tuple[str, str]]:
    """What became of it, in pieces: words, and the page of an alert where they name one.

    They are a sentence without its full stop, so that a name at its end can be found.
    """
    if not alert.resolution:
        return []
    pages = {one.id for one in with_page(observed.alerts)} - {alert.id}
    text = shorten(alert.resolution, 1000).rstrip(".")
    words = f"{text[:1].upper()}{text[1:]}".split(" ")
    links = {word: f"alerts/{word}.html" for word in words if word in pages}
    return [(word, links.get(word, "")) for word in words]


def _of_the_machine(observed: SiteInput, alert: Alert) -> str:
    """A sentence if the change is rather one of the machine; empty if not."""
    found = observed.machine_of.get(alert.id)
    if found is not None:
        return f"{of_the_machine(found)}."
    for machine in sorted({one.machine for one in alert.series if one.kind == "noisy"}):
        moment = observed.measured_at.get((alert.first_bad.label, machine))
        look = None if moment is None else moved_near(observed.looks, machine, moment)
        if look is not None:
            told = of_the_night(look)
            return f"{told[:1].upper()}{told[1:]}."
    return ""


def _series(observed: SiteInput, alert: Alert) -> Iterator[SeriesRow]:
    for one in alert.series[:_SERIES]:
        numbers = observed.by_key.get(one.key, ())
        link = f"series.html#s={observed.ids[numbers[0]]}" if numbers else _ledgers(observed, one)
        yield SeriesRow(
            shorten(one.benchmark, 120), link, shorten(one.metric, 40),
            sizes.levels(one),
            # Of an alert that is not found any more, nobody followed what came later.
            units.human(one.now, one.unit) if found_still(alert) else units.MISSING,
            "" if alert.state == "resolved" else "yes" if one.holds else "no",
            ", ".join(filter(None, (clean(one.machine), clean(one.env_name)))),
        )  # fmt: skip


def _ledgers(observed: SiteInput, one: SeriesChange) -> str:
    """The comparison of the ledgers of its cell, for what is counted by comparing two subjects."""
    ends = [at and observed.spots.get((*one.key[:2], at.commit))
            for at in (one.last_good, one.first_bad)]  # fmt: skip
    names = [spot_name(spot) for spot in ends if spot]
    if len(names) < 2:
        return ""
    return f"compare.html#a={names[0]}&b={names[1]}&cell={quote_plus(one.benchmark)}"


def _more(number: int) -> str:
    rest = number - _SERIES
    return f", {units.count(rest)} more in alerts.json" if rest > 0 else ""


def _functions(alert: Alert) -> Table:
    ordered = sorted(alert.functions, key=lambda f: (-f.seconds, f.name))
    rows = tuple(
        (
            shorten(one.name, 160), units.count(one.count), f"{one.base} → {one.head}",
            units.seconds(one.seconds),
        )
        for one in ordered[:_FUNCTIONS]
    )  # fmt: skip
    header = ("function", "how many", "last good → first bad", "extra time")
    return Table(f"{several(len(ordered), 'function')}, slowest first", header, rows)


def _graphs(alert: Alert) -> Table:
    shown = alert.graphs[:_FUNCTIONS]
    told = any(one.note for one in shown)
    rows = tuple((shorten(one.name, 160), *[shorten(one.note, 200)] * told) for one in shown)
    noun = CAUSES[alert.kind].noun if alert.kind in CAUSES else "graph"
    noun = "graph" if noun == "function" else noun
    title, note = several(len(alert.graphs), noun), _NOTES.get(noun, "what it says")
    return Table(title, (noun, note) if told else (noun,), rows)


def _links(observed: SiteInput, alert: Alert, forge: Forge) -> Iterator[tuple[str, str]]:
    """Links to what changed in between: words and address."""
    good, bad = alert.last_good, alert.first_bad
    if good is None:
        return
    for one in alert.series[:1]:
        ends = [observed.spots.get((one.machine, one.env_name, at.commit)) for at in (good, bad)]
        names = [spot_name(spot) for spot in ends if spot]
        if len(names) == 2:
            words = f"Compare {clean(good.label)} with {clean(bad.label)}"
            yield words, f"compare.html#a={names[0]}&b={names[1]}"
    if address := forge.between(_named(good), _named(bad)):
        yield f"All code changes from {clean(good.label)} to {clean(bad.label)}", address


def _named(at: At) -> tuple[str, str]:
    return at.label, at.commit
