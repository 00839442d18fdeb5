"""A page for each alert: what, since when, on which evidence, and what to type next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from benchmarks.catalogue import (
    BACKENDS,
    CORRECTNESS,
    LAUNCHES,
    MEASURES,
    METRICS,
    MODELS,
    SCENARIOS,
)
from dashboard.drawing.panels import Table
from dashboard.drawing.series import picture
from dashboard.site_input import SiteInput, spot_name
from observatory.analyze.history.level_changes import DRIFT
from observatory.store.records.alerts import Alert, Change, SeriesChange
from observatory.text import units
from observatory.text.alerts import between
from observatory.text.plain import clean, shorten
from observatory.text.words import several

_PICTURES = 4
_SERIES = 200
_FUNCTIONS = 200
_RELEASE = re.compile(r"\d+(\.\d+)+((a|b|rc|\.post|\.dev)\d+)?")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


NextStep = tuple[str, str]
"""What a person does next: why, and what to type."""


def alert_page(observed: SiteInput, alert: Alert, compare_url: str) -> dict[str, Any]:
    """The values of `alert.html.j2`. ``compare_url``: as `dashboard.site.Links` has it."""
    shown = {
        number: one
        for one in alert.series
        for number in observed.by_key.get(one.key, ())
        if one.first_bad.commit in observed.tracks[number].series.commits
    }
    acknowledging = (
        "Acknowledge it, here for four weeks:",
        f'observatory ack {alert.id} --why "..." --until 4w',
    )
    roles = {
        "last good": alert.last_good, "first bad": alert.first_bad,
        "resolved by": alert.resolved_by,
    }  # fmt: skip
    return {
        "alert": alert,
        "sentence": clean(alert.sentence),
        "span": between(alert),
        "places": [
            (role, clean(at.label), at.date, clean(at.commit)[:12])
            for role, at in roles.items() if at
        ],
        "notes": [clean(note) for note in alert.notes],
        "pictures": [
            picture(observed, number, one, alert.resolved_by)
            for number, one in islice(shown.items(), _PICTURES)
        ],
        "series": _series(alert.series) if alert.series else None,
        "functions": _functions(alert) if alert.functions else None,
        "graphs": _graphs(alert) if alert.graphs else None,
        "steps": [*steps(alert), *([acknowledging] if alert.state != "resolved" else [])],
        "links": list(_links(observed, alert, compare_url)),
    }  # fmt: skip


def steps(change: Change) -> Iterator[NextStep]:
    """How to reproduce a change and find its commit; nothing for failed and late runs."""
    good, bad = change.last_good, change.first_bad
    narrowed = _narrowed(change.series)
    if good is None or not narrowed:
        return
    releases = _RELEASE.fullmatch(good.label) and _RELEASE.fullmatch(bad.label)
    if releases:
        again = f"observatory compare {good.label} {bad.label} {narrowed}"
        yield "Measure both side by side:", again
        old, new = f"rel-{good.label}", f"rel-{bad.label}"
    elif _COMMIT.fullmatch(good.commit) and _COMMIT.fullmatch(bad.commit):
        old, new = good.commit[:12], bad.commit[:12]
        again = f"observatory compare --repo . {old} {new} {narrowed}"
        yield "Measure both side by side, in a clone of PyTensor:", again
    else:
        return
    if change.kind.startswith(DRIFT) or (not releases and change.between == 0):
        return  # no commit is to blame, or the first bad one is it
    # Nothing worse is 0 and passes; what could not be built (4) or judged (8) is skipped.
    judge = f"observatory compare --repo . {old} HEAD {narrowed}"
    script = shlex.quote(f"{judge}; s=$?; case $s in 4|8) exit 125;; esac; exit $s")
    bisect = f"git bisect start {new} {old}\ngit bisect run sh -c {script}"
    yield "Find the commit, in a clone of PyTensor:", bisect


def _narrowed(series: Sequence[SeriesChange]) -> str:
    """The options that select the alert's cells and passes; empty if there are none of ours."""
    cells = [one.benchmark.split() for one in series]
    axes = (MODELS, SCENARIOS, BACKENDS, LAUNCHES)
    names = ("model", "scenario", "backend", "launch")
    if not cells or not all(
        len(words) == len(axes) and all(word in own for word, own in zip(words, axes, strict=True))
        for words in cells
    ):
        return ""
    options = []
    for axis, (name, words) in enumerate(zip(names, axes, strict=True)):
        found = [word for word in words if any(cell[axis] == word for cell in cells)]
        if name == "model" and found == ["radon"]:
            continue
        if len(found) < len(words):
            options += [f"--{name} {word}" for word in found]
    return " ".join([*options, *_passes(series)])


def _passes(series: Sequence[SeriesChange]) -> Iterator[str]:
    """The passes that an alert on counts needs: times would be undecided."""
    counted = [one.metric for one in series if one.kind != "noisy"]
    if not counted or not set(CORRECTNESS).isdisjoint(counted):
        return  # every pass finds wrong values and crashes
    passes = {METRICS[name].measure if name in METRICS else "counting" for name in counted}
    if "timing" not in passes:
        yield "--budget 1h"  # counting ends when all is counted, and long before
        yield from (f"--pass {name}" for name in MEASURES if name in passes)


def _series(series: Sequence[SeriesChange]) -> Table:
    rows = tuple(
        (
            shorten(one.benchmark, 120), shorten(one.metric, 40),
            units.change(one.before, one.after, one.unit), units.human(one.now, one.unit),
            "yes" if one.holds else "no",
        )
        for one in series[:_SERIES]
    )  # fmt: skip
    rest = len(series) - _SERIES
    more = f", {units.count(rest)} more in alerts.json" if rest > 0 else ""
    header = ("series", "metric", "before → after", "newest", "still holds")
    return Table(f"{units.count(len(series))} series{more}", header, rows)


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
    rows = tuple(
        (shorten(one.name, 160), shorten(one.note, 200)) for one in alert.graphs[:_FUNCTIONS]
    )
    title = several(len(alert.graphs), "graph")
    return Table(title, ("graph", "what it says"), rows)


def _links(observed: SiteInput, alert: Alert, compare_url: str) -> Iterator[tuple[str, str]]:
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
    if compare_url and _COMMIT.fullmatch(good.commit) and _COMMIT.fullmatch(bad.commit):
        yield "What changed in the code", f"{compare_url}{good.commit}...{bad.commit}"
