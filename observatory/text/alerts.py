"""Alerts in words: one sentence on all of them, and the list on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from observatory.analyze.history.level_changes import DRIFT
from observatory.analyze.history.standing import standing
from observatory.store.records.alerts import Alert, Alerts, Change, SeriesChange, State
from observatory.store.records.found import NOTHING, Found
from observatory.text import sizes, units
from observatory.text.culprits import headline
from observatory.text.document import spoken
from observatory.text.plain import clean, ending
from observatory.text.titles import FEWER, title_of
from observatory.text.words import several

_STYLES: dict[State, str] = {
    "new": "bold red",
    "expired": "bold red",
    "open": "red",
    "acknowledged": "yellow",
    "event": "blue",
    "resolved": "green",
}
MOST_PAGES = 500
MOST_RESOLVED = 60
"""Pages are made for this many alerts that are not resolved, and for the newest resolved ones."""
_SERIES_SHOWN = 4
_CHANGES_SHOWN = 20
_ENVIRONMENTS_SHOWN = 5
_LONGEST_NAME = 24
"""Of a benchmark in the list, so that it stands in one line; the whole name follows below."""


def verdict(alerts: Alerts, now: datetime) -> str:
    """One sentence: how many alerts need attention, and the age of the last good run."""
    if alerts.newest is None:
        return f"{open_alerts(alerts)}; nothing was ever measured."
    run = "last good run" if alerts.last_good else "no good run is recorded; newest subject"
    return f"{open_alerts(alerts)}; {run} {ago(now - (alerts.last_good or alerts.newest))}."


def open_alerts(alerts: Alerts) -> str:
    """How many alerts need attention, independent of the time of reading.

    What has always been wrong is said, too: no change could raise an alert of it.
    """
    now = standing(alerts)
    needing = now.needing
    new, expired = (sum(one.state == state for one in needing) for state in ("new", "expired"))
    if needing:
        parts = ["all new" if new == len(needing) else f"{new} new" if new else "none of them new"]
        parts += [f"{expired} with an expired acknowledgement"] if expired else []
        sentence = f"{several(len(needing), 'alert')} open, {', '.join(parts)}"
    elif now.untold:
        sentence = "Something has been wrong since the first subject; 0 alerts open"
    elif now.acknowledged:
        sentence = "0 alerts open"
    elif not (alerts.judged or alerts.compared):
        sentence = "Nothing could be judged yet"
    else:
        sentence = f"{'Nothing is wrong: ' * (alerts.wrong is not None)}0 alerts open"
    if known := len(now.acknowledged):
        sentence += f"; {known} acknowledged"
    return sentence


def ago(age: timedelta) -> str:
    """The age in words, in one unit.

    >>> ago(timedelta(minutes=5)), ago(timedelta(hours=30)), ago(timedelta(days=12))
    ('5 min ago', '30 h ago', '12 days ago')
    >>> ago(timedelta(hours=2.5))
    '3 h ago'
    """
    minutes = age.total_seconds() / 60
    if minutes < 1:
        return "just now"
    if minutes < 90:
        return f"{int(minutes + 0.5)} min ago"  # as Math.round does, for the script of the pages
    if minutes < 48 * 60:
        return f"{int(minutes / 60 + 0.5)} h ago"
    return f"{units.count(age.days)} days ago"


def with_page(alerts: Alerts) -> list[Alert]:
    """The alerts that have a page, in their order."""
    live = [one for one in alerts.alerts if one.state != "resolved"]
    over = [one for one in alerts.alerts if one.state == "resolved"]
    return [*live[:MOST_PAGES], *over[:MOST_RESOLVED]]


def drawn(
    alerts: Alerts,
    now: datetime,
    everything: bool = False,
    chosen: Sequence[Alert] | None = None,
    found: Found = NOTHING,
) -> RenderableType:
    """The alerts for 80 columns; ``everything`` adds resolved ones and what is no alert.

    ``chosen``: list only these; the first sentence is about all. ``found``: what searches
    found; of which that about an alert names its culprit.
    """
    calm = standing(alerts).light in ("good", "unknown")
    style = "bold green" if calm else "bold red"
    blocks: list[RenderableType] = [Text(verdict(alerts, now), style)]
    listed = alerts.alerts if chosen is None else chosen
    shown = [a for a in listed if everything or a.state != "resolved"]
    if shown:
        blocks += [Text(), _table(shown)]
    for alert in shown:
        blocks += [Text(), *_alert(alert, found.of_change(alert))]
    resolved = len(alerts.in_state("resolved"))
    if resolved and not everything:
        blocks += [Text(), Text(f"{several(resolved, 'alert')} resolved: see --all", "dim")]
    if everything:
        blocks += _listed("Small changes", alerts.smaller, "bold")
        blocks += _listed("Improvements", alerts.improvements, "bold green")
    elif alerts.smaller:
        number = several(len(alerts.smaller), "small change")
        blocks += [Text(), Text(f"{number}, too small for an alert: see --all", "dim")]
    judged = f"{units.count(alerts.judged)} series of times"
    compared = f"the counts of {several(alerts.compared, 'pair')} of subjects"
    blocks += [Text(), Text(f"Judged: {judged} and {compared}.", "dim")]
    for one in alerts.unjudged:
        blocks.append(Text(f"{units.count(one.count)} not judged: {clean(one.reason)}.", "dim"))
    blocks += [Text(f"{clean(text)}.", "dim") for text in alerts.environments[:_ENVIRONMENTS_SHOWN]]
    if (rest := len(alerts.environments) - _ENVIRONMENTS_SHOWN) > 0:
        blocks.append(Text(f"and {rest} more changes of machines", "dim"))
    if alerts.orphans:
        sentence = f"{several(len(alerts.orphans), 'acknowledgement')} of unknown alerts"
        blocks.append(Text(f"{sentence}: {', '.join(alerts.orphans[:5])}", "yellow"))
    return Group(*blocks)


def _table(alerts: Sequence[Alert]) -> Table:
    """The overview: one line for each alert."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("state", "id", "date", "since", "change", "what"):
        table.add_column(name, no_wrap=name not in ("since", "what"), overflow="fold")
    for alert in alerts:
        table.add_row(
            Text(alert.state, _STYLES[alert.state]), alert.id, f"{alert.first_bad.date:%Y-%m-%d}",
            Text(clean(alert.first_bad.label)), _largest(alert), Text(_what(alert)),
        )  # fmt: skip
    return table


def _largest(alert: Alert) -> str:
    """The size of the change in the series that moved the most."""
    if not alert.series or alert.last_good is None:
        return units.MISSING
    first = alert.series[0]
    if first.kind == "exact":
        return f"{units.count(first.before)} → {units.count(first.after)}"
    if first.modes is not None:
        return "two modes"
    if alert.kind.startswith(DRIFT) and first.ratio is not None:
        return f"about {units.signed(first.ratio)}"
    ratio = sizes.medians(first)
    return units.MISSING if ratio is None else units.signed(ratio)


def _what(alert: Alert) -> str:
    """Its kind, and where: the series that moved the most, and how many others did."""
    if not alert.series:
        return title_of(alert.kind)
    others = len(alert.series) - 1
    first = f"{title_of(alert.kind)}: {ending(alert.series[0].benchmark, _LONGEST_NAME)}"
    return f"{first} and {several(others, 'other')}" if others else first


def _alert(alert: Alert, found: Found) -> Iterator[RenderableType]:
    yield Text.assemble((alert.id, "bold"), f"  {title_of(alert.kind)}, {between(alert)}")
    lines = [clean(alert.sentence), *(_series(one) for one in alert.series[:_SERIES_SHOWN])]
    if (rest := len(alert.series) - _SERIES_SHOWN) > 0:
        lines.append(f"and {rest} more series")
    if who := headline(found):
        lines.append(f"culprit: {spoken(who)}")
    lines += [clean(note) for note in alert.notes]
    if alert.resolution:
        lines.append(clean(alert.resolution))
    if (given := alert.acknowledged) is not None:
        lines.append(
            f"acknowledged by {clean(given.who)} until {given.until:%Y-%m-%d}: {clean(given.why)}"
        )
    yield Padding(Text("\n".join(lines)), (0, 0, 0, 4))


def between(change: Change) -> str:
    """The subjects between which the change lies: "since 3.3.7 (last good 3.3.4)".

    The subject before an improvement was not good: "since 3.3.7 (before: 3.3.4)".
    """
    first = clean(change.first_bad.label)
    if change.last_good is None:
        return f"since {first}, where it was first checked" if change.series else f"at {first}"
    earlier = "last good" if isinstance(change, Alert) else "before:"
    return f"since {first} ({earlier} {clean(change.last_good.label)}{unmeasured(change)})"


def unmeasured(change: Change) -> str:
    """How many subjects in between were not measured, after a comma; empty if there are none."""
    gap = change.between if found_still(change) else 0
    return f", {several(gap, 'subject')} in between not measured" * bool(gap)


def found_still(change: Change) -> bool:
    """Whether the results still show it, so that its numbers are those of today's results.

    An alert that was withdrawn, or is part of another one now, keeps the numbers that it had.
    """
    return not isinstance(change, Alert) or change.state != "resolved" or bool(change.resolved_by)


def _series(one: SeriesChange) -> str:
    now = "" if one.now in (None, one.after) else f", now {units.human(one.now, one.unit)}"
    where = ", ".join(filter(None, (clean(one.machine), clean(one.env_name))))
    return f"{clean(one.benchmark)} {clean(one.metric)}: {sizes.levels(one)}{now}; {where}"


def _listed(title: str, changes: Sequence[Change], style: str) -> Iterator[RenderableType]:
    if changes:
        yield Text()
        yield Text(title, style)
    for change in changes[:_CHANGES_SHOWN]:
        counted = f"{title_of(change.kind)}: " if change.kind.startswith(FEWER) else ""
        yield Text(f"  {clean(change.first_bad.label)}: {counted}{clean(change.sentence)}")
    if (rest := len(changes) - _CHANGES_SHOWN) > 0:
        yield Text(f"  and {rest} more: see --json", "dim")
