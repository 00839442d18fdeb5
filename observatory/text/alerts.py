"""Alerts in words: the sentence that says it all, and the list on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from observatory.store.records.alerts import Alert, Alerts, Change, SeriesChange, State
from observatory.text import units
from observatory.text.plain import clean
from observatory.text.words import several

_STYLES: dict[State, str] = {
    "new": "bold red",
    "expired": "bold red",
    "open": "red",
    "acknowledged": "yellow",
    "resolved": "green",
}
MOST_PAGES = 500
MOST_RESOLVED = 60
"""The alerts that need a person have pages; of those that are over the newest."""
_SERIES_SHOWN = 4
_IMPROVEMENTS_SHOWN = 20
_ENVIRONMENTS_SHOWN = 5


def verdict(alerts: Alerts, now: datetime) -> str:
    """One sentence: what needs a person, and how fresh that is."""
    said = standing(alerts)
    if alerts.newest is None:
        return f"{said}; nothing was ever measured."
    run = "last good run" if alerts.last_good else "no good run is recorded; newest subject"
    return f"{said}; {run} {ago(now - (alerts.last_good or alerts.newest))}."


def standing(alerts: Alerts, wrong: bool = False) -> str:
    """What needs a person, and what is known: words that do not depend on when they are read.

    ``wrong``: something is, though nothing changed that an alert could tell.
    """
    needing = alerts.in_state("new", "expired", "open")
    new, expired = len(alerts.in_state("new")), len(alerts.in_state("expired"))
    if needing:
        parts = ["all new" if new == len(needing) else f"{new} new" if new else "none of them new"]
        parts += [f"{expired} no longer acknowledged"] if expired else []
        said = f"{several(len(needing), 'alert')} open, {', '.join(parts)}"
    elif alerts.in_state("acknowledged"):
        said = "0 alerts open"
    elif wrong:
        said = "Something is wrong since the first subject; 0 alerts open"
    elif alerts.judged or alerts.compared:
        said = "Nothing is wrong: 0 alerts open"
    else:
        said = "Nothing could be judged yet"
    if known := len(alerts.in_state("acknowledged")):
        said += f"; {known} acknowledged"
    return said


def ago(age: timedelta) -> str:
    """How long ago, in one unit.

    >>> ago(timedelta(minutes=5)), ago(timedelta(hours=30)), ago(timedelta(days=12))
    ('5 min ago', '30 h ago', '12 days ago')
    """
    minutes = age.total_seconds() / 60
    if minutes < 1:
        return "just now"
    if minutes < 90:
        return f"{minutes:.0f} min ago"
    return f"{minutes / 60:.0f} h ago" if minutes < 48 * 60 else f"{units.count(age.days)} days ago"


def with_page(alerts: Alerts) -> list[Alert]:
    """The alerts that have a page of their own, in their order."""
    live = [one for one in alerts.alerts if one.state != "resolved"]
    over = [one for one in alerts.alerts if one.state == "resolved"]
    return [*live[:MOST_PAGES], *over[:MOST_RESOLVED]]


def told(alerts: Alerts, now: datetime, everything: bool = False) -> RenderableType:
    """The alerts for a terminal of 80 columns; `everything`: also what is over or better."""
    calm = not alerts.in_state("new", "expired", "open")
    drawn: list[RenderableType] = [Text(verdict(alerts, now), "bold green" if calm else "bold red")]
    shown = [a for a in alerts.alerts if everything or a.state != "resolved"]
    if shown:
        drawn += [Text(), _table(shown)]
    for alert in shown:
        drawn += [Text(), *_alert(alert)]
    resolved = len(alerts.in_state("resolved"))
    if resolved and not everything:
        drawn += [Text(), Text(f"{several(resolved, 'alert')} resolved: see --all", "dim")]
    if everything:
        drawn += _improvements(alerts.improvements)
    judged = f"{units.count(alerts.judged)} series of times judged"
    compared = f"counts of {several(alerts.compared, 'pair')} of subjects compared"
    drawn += [Text(), Text(f"{judged}, {compared}.", "dim")]
    for one in alerts.unjudged:
        drawn.append(Text(f"{units.count(one.count)} not judged: {clean(one.reason)}.", "dim"))
    drawn += [Text(f"{clean(text)}.", "dim") for text in alerts.environments[:_ENVIRONMENTS_SHOWN]]
    if (rest := len(alerts.environments) - _ENVIRONMENTS_SHOWN) > 0:
        drawn.append(Text(f"and {rest} more changes of machines", "dim"))
    if alerts.orphans:
        said = f"{several(len(alerts.orphans), 'acknowledgement')} of no alert that is known"
        drawn.append(Text(f"{said}: {', '.join(alerts.orphans[:5])}", "yellow"))
    return Group(*drawn)


def _table(alerts: Sequence[Alert]) -> Table:
    """A line for each alert: enough to see which one to read."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("state", "id", "what", "since", "last good", "series"):
        table.add_column(name, justify="right" if name == "series" else "left")
    for alert in alerts:
        good = alert.last_good.label if alert.last_good else units.MISSING
        table.add_row(
            Text(alert.state, _STYLES[alert.state]), alert.id, Text(clean(alert.kind)),
            Text(clean(alert.first_bad.label)), Text(clean(good)),
            units.count(len(alert.series)) if alert.series else units.MISSING,
        )  # fmt: skip
    return table


def _alert(alert: Alert) -> Iterator[RenderableType]:
    yield Text.assemble((alert.id, "bold"), f"  {clean(alert.kind)}, {between(alert)}")
    lines = [clean(alert.sentence), *(_series(one) for one in alert.series[:_SERIES_SHOWN])]
    if (rest := len(alert.series) - _SERIES_SHOWN) > 0:
        lines.append(f"and {rest} more series")
    lines += [clean(note) for note in alert.notes]
    if alert.resolution:
        lines.append(clean(alert.resolution))
    if (said := alert.acknowledged) is not None:
        lines.append(
            f"acknowledged by {clean(said.who)} until {said.until:%Y-%m-%d}: {clean(said.why)}"
        )
    yield Padding(Text("\n".join(lines)), (0, 0, 0, 4))


def between(change: Change) -> str:
    """Which subjects the change lies between."""
    first = clean(change.first_bad.label)
    if change.last_good is None:
        return f"at {first}"
    missing = f", {several(change.between, 'subject')} between not measured" * bool(change.between)
    return f"since {first} (last good {clean(change.last_good.label)}{missing})"


def _series(one: SeriesChange) -> str:
    levels = units.change(one.before, one.after, one.unit)
    now = "" if one.now in (None, one.after) else f", now {units.human(one.now, one.unit)}"
    return f"{clean(one.benchmark)} {clean(one.metric)}: {levels}{now}"


def _improvements(changes: list[Change]) -> Iterator[RenderableType]:
    if changes:
        yield Text()
        yield Text("Improvements", "bold green")
    for change in changes[:_IMPROVEMENTS_SHOWN]:
        yield Text(f"  {clean(change.first_bad.label)}: {clean(change.sentence)}")
    if (rest := len(changes) - _IMPROVEMENTS_SHOWN) > 0:
        yield Text(f"  and {rest} more: see --json", "dim")
