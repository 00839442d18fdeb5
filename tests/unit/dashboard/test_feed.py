"""Alerts as a feed and on a terminal."""

import io
from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from observatory.dashboard.feed import atom
from observatory.store.records.alerts import Alerts
from observatory.text.alerts import drawn, verdict
from tests.factories_alerts import detected, line, moment, series, stepped, watched

ATOM = "{http://www.w3.org/2005/Atom}"


def alerts(nights: int = 80, place: int | None = 40, cell: tuple[str, ...] | None = None) -> Alerts:
    options = {} if cell is None else {"cell": cell}
    found = series(line(nights), stepped(nights, place), **options)
    return detected(watched(nights, found), moment(nights))


def text(found: Alerts, everything: bool = False) -> str:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(drawn(found, moment(80).now, everything))
    return console.export_text()


def test_the_feed_has_an_entry_for_each_alert_with_an_id_that_stays() -> None:
    found = alerts()
    root = ET.fromstring(atom(found, moment(80).now, "https://example.org/"))
    (entry,) = root.findall(f"{ATOM}entry")
    assert entry.findtext(f"{ATOM}id") == f"urn:observatory:alert:{found.alerts[0].id}"
    assert (entry.findtext(f"{ATOM}title") or "").startswith("open: slower to build, since n")
    for required in ("id", "title", "updated"):
        assert root.findtext(f"{ATOM}{required}")
        assert entry.findtext(f"{ATOM}{required}")
    assert root.find(f"{ATOM}author/{ATOM}name") is not None
    link = root.find(f"{ATOM}link")
    assert link is not None
    assert link.get("href") == "https://example.org/"


def test_an_entry_leads_to_the_page_of_its_alert_if_it_has_one() -> None:
    found = alerts()
    (one,) = found.alerts
    over = [one.model_copy(update={"id": f"{n:010x}", "state": "resolved"}) for n in range(90)]
    crowd = found.model_copy(update={"alerts": [one, *over]})
    for address in ("https://example.org/of", "https://example.org/of/"):
        root = ET.fromstring(atom(crowd, moment(80).now, address))
        links = [link.get("href") for link in root.iterfind(f"{ATOM}entry/{ATOM}link")]
        assert len(links) == 91
        assert links[0] == f"https://example.org/of/alerts/{one.id}.html"
        assert links[-1] == "https://example.org/of/alerts.html"


def test_the_same_alerts_give_the_same_feed() -> None:
    assert atom(alerts(), moment(80).now) == atom(alerts(), moment(80).now)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "\x1b[31mred", "a\x00b\u202e"])
def test_no_name_is_obeyed(name: str) -> None:
    found = alerts(cell=("", name, "", ""))
    root = ET.fromstring(atom(found, moment(80).now))
    assert "\x1b" not in "".join(root.itertext())
    assert "\x1b" not in text(found)


def test_nothing_to_say_is_said() -> None:
    calm = alerts(place=None)
    now = moment(80).now
    assert verdict(calm, now) == "Nothing is wrong: 0 alerts open; last good run 60 min ago."
    assert verdict(calm, now + timedelta(days=9)).endswith("last good run 9 days ago.")
    assert len(ET.fromstring(atom(calm, now)).findall(f"{ATOM}entry")) == 0


def test_the_terminal_says_what_is_known_of_an_alert() -> None:
    said = text(alerts())
    assert "1 alert open, none of them new" in said
    (one,) = alerts().alerts
    (row,) = [line for line in said.splitlines() if line.split()[:2] == ["open", one.id]]
    assert one.kind in row
    assert "last good n3" in said
    assert "95 % interval" in said
    assert "Judged: 1 series of times and the counts of" in said


def test_of_many_alerts_those_that_need_a_person_are_in_the_feed() -> None:
    found = alerts()
    (one,) = found.alerts
    over = [one.model_copy(update={"id": f"{n:010x}", "state": "resolved"}) for n in range(300)]
    crowd = found.model_copy(update={"alerts": [one, *over]})
    root = ET.fromstring(atom(crowd, moment(80).now))
    ids = [entry.findtext(f"{ATOM}id") for entry in root.findall(f"{ATOM}entry")]
    assert len(ids) == 100
    assert f"urn:observatory:alert:{one.id}" in ids


def test_an_entry_is_renewed_when_its_state_changes() -> None:
    found = alerts()
    later = moment(90).now
    (one,) = found.alerts
    over = one.model_copy(update={"state": "resolved", "state_since": later})
    root = ET.fromstring(atom(found.model_copy(update={"alerts": [over]}), later))
    updated = root.findtext(f"{ATOM}entry/{ATOM}updated") or ""
    assert updated.startswith(f"{later:%Y-%m-%d}")
