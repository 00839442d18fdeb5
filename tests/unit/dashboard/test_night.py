from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree

from observatory.dashboard.pages.night import Bar, StepOutcome, night_picture, night_summary
from observatory.store.records.alerts import Alert, Alerts
from tests.factories import NOON

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
STEPS = (
    StepOutcome("measure newest", "done", 240.0, True),
    StepOutcome(
        "canary", "5: everything was recorded, and a subject returned wrong numbers", 90.0, False
    ),
    StepOutcome("deliver", "not done, as alerts failed", None, False),
)


def an_alert(**changes: object) -> Alert:
    at = {"label": "3.3.7", "commit": "a" * 40, "date": NOON}
    fields = {
        "id": "0" * 10, "kind": "slower to build", "sentence": "it is slower", "last_good": None,
        "first_bad": at, "between": 0, "state": "new", "first_seen": NOON, "seen_with": NOON,
        "state_since": NOON,
    }  # fmt: skip
    return Alert.model_validate(fields | changes)


def alerts(*found: object) -> Alerts:
    return Alerts.model_validate(
        {
            "schema": "observatory/alerts/1", "observatory": "0", "newest": NOON,
            "last_good": NOON, "judged": 3, "wrong": [], "alerts": list(found),
        }
    )  # fmt: skip


def test_the_summary_says_what_became_of_each_step() -> None:
    text = night_summary(STEPS, alerts(), NOW, "https://example.org/", None)
    assert text.startswith("#### Night of ")
    assert "| step | outcome | took |" in text
    assert "**Nothing is wrong: " in text.replace("`", "")
    assert "| `measure newest` | done | 4 min" in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "returned wrong numbers**" in text
    assert "[All pages](https://example.org/)" in text
    assert "![" not in text


def test_the_picture_is_linked_where_it_is() -> None:
    text = night_summary(STEPS, None, NOW, "", "https://example.org/pictures/newest.svg")
    assert "![Compile times of the newest subject](https://example.org/pictures/newest.svg)" in text
    assert "All pages" not in text


def test_new_alerts_are_told_and_those_that_are_known_are_not() -> None:
    new = an_alert(state="new", sentence="NUMBA: keys differ between hash seeds")
    known = an_alert(id="1" * 10, state="acknowledged", sentence="known for long")
    gone = an_alert(id="2" * 10, state="new", sentence="not measured any more")
    some = alerts(new, known, gone).model_copy(update={"retired": [gone.id]})
    text = night_summary(STEPS, some, NOW, "", None)
    assert "keys differ between hash seeds" in text
    assert "not measured any more" not in text
    assert "known for long" not in text


def test_nothing_that_an_alert_says_is_obeyed() -> None:
    evil = an_alert(state="new", sentence="<img src=x> @someone [x](https://evil.example) #12")
    text = night_summary(STEPS, alerts(evil), NOW, "", None)
    (line,) = [line for line in text.splitlines() if "evil" in line]
    assert line == "- `<img src=x> @someone [x](https://evil.example) #12`."


def test_the_picture_is_well_formed_whatever_the_names_are() -> None:
    bars = [Bar("cold <b>&\"' NUMBA", "NUMBA", 4.2), Bar("warm_disk C", "odd", 0.0)]
    content = night_picture("3.3.7 <script> on bench", bars)
    root = ElementTree.fromstring(content)
    assert root.tag.endswith("svg")
    assert b"<script" not in content
    widths = [float(one.attrib["width"]) for one in root.iter() if one.tag.endswith("rect")]
    assert widths == [370.0, 1.0]


def test_no_bars_are_a_picture_too() -> None:
    assert ElementTree.fromstring(night_picture("nothing", [])).tag.endswith("svg")
