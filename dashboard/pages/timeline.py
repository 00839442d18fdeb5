"""What happened when: every change of a history, subject by subject, the newest first."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from observatory.analyze.history.alerts import FAILED, STALE
from observatory.store.records.alerts import Alert, Alerts, Change
from observatory.text.plain import begun, clean, shorten

MOST = 60
_SENTENCE = 400
_EVENTS = 12


@dataclass(frozen=True)
class Event:
    """One change; ``state`` is that of its alert, empty for an improvement."""

    kind: str
    state: str
    sentence: str
    link: str


@dataclass(frozen=True)
class Chapter:
    """What happened at one subject."""

    label: str
    date: datetime
    events: tuple[Event, ...]
    more: int
    """Events that are left out."""


@dataclass(frozen=True)
class Timeline:
    """The newest chapters, and the number of older ones."""

    chapters: tuple[Chapter, ...]
    more: int


def timeline(alerts: Alerts, pages: frozenset[str]) -> Timeline:
    """The newest MOST subjects at which something changed. ``pages``: ids that have a page."""
    found: dict[tuple[datetime, str], list[Change]] = defaultdict(list)
    for change in (*alerts.alerts, *alerts.improvements):
        if change.kind not in (STALE, FAILED):
            found[change.first_bad.date, change.first_bad.label].append(change)
    chapters = []
    for date, label in sorted(found, reverse=True)[:MOST]:
        changes = found[date, label]
        events = tuple(_event(change, pages) for change in changes[:_EVENTS])
        more = len(changes) - len(events)
        chapters.append(Chapter(shorten(label, 60), date, events, more))
    return Timeline(tuple(chapters), len(found) - len(chapters))


def _event(change: Change, pages: frozenset[str]) -> Event:
    state = change.state if isinstance(change, Alert) else ""
    link = f"alerts/{change.id}.html" if state and change.id in pages else ""
    return Event(clean(change.kind), state, begun(change.sentence, _SENTENCE), link)
