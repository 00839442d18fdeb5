"""Alerts as an Atom feed (RFC 4287): an entry for each alert, renewed when its state changes."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from observatory.store.records.alerts import Alerts
from observatory.text.alerts import between, open_alerts, with_page
from observatory.text.plain import clean
from observatory.text.titles import title_of

_ATOM = "http://www.w3.org/2005/Atom"
_MOST_ENTRIES = 100


def atom(alerts: Alerts, now: datetime, link: str = "") -> bytes:
    """The feed as UTF-8 XML; ``link`` is where the pages are, if that is known.

    Entries have the same ids from night to night; no text in them is markup.
    """
    ET.register_namespace("", _ATOM)
    link = f"{link.rstrip('/')}/" if link else ""
    pages = {alert.id for alert in with_page(alerts)} if link else set()
    feed = ET.Element(f"{{{_ATOM}}}feed")
    _add(feed, "title", "Alerts of the observatory")
    run = alerts.last_good or alerts.newest
    _add(feed, "subtitle", open_alerts(alerts) + (f"; as of {_time(run)}" if run else ""))
    _add(feed, "id", link or "urn:observatory:alerts")
    # The alerts come in the order in which they need a person: the first are kept.
    entries = alerts.alerts[:_MOST_ENTRIES]
    newest = max((alert.state_since for alert in entries), default=alerts.newest or now)
    _add(feed, "updated", _time(newest))
    _add(_add(feed, "author"), "name", f"observatory {alerts.observatory}")
    if link:
        ET.SubElement(feed, f"{{{_ATOM}}}link", href=link)
    for alert in entries:
        entry = _add(feed, "entry")
        _add(entry, "id", f"urn:observatory:alert:{alert.id}")
        _add(entry, "title", f"{alert.state}: {title_of(alert.kind)}, {between(alert)}")
        _add(entry, "updated", _time(alert.state_since))
        _add(entry, "published", _time(alert.first_seen))
        if link:
            page = f"alerts/{alert.id}.html" if alert.id in pages else "alerts.html"
            ET.SubElement(entry, f"{{{_ATOM}}}link", href=link + page)
        texts = [alert.sentence, *alert.notes, alert.resolution or ""]
        _add(entry, "content", " / ".join(clean(text) for text in texts if text))
    return bytes(ET.tostring(feed, encoding="utf-8", xml_declaration=True)) + b"\n"


def _add(parent: ET.Element, name: str, text: str = "") -> ET.Element:
    child = ET.SubElement(parent, f"{{{_ATOM}}}{name}")
    if text:
        child.text = clean(text)
    return child


def _time(moment: datetime) -> str:
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
