"""The badge says what the alerts say, in words and in a colour, and is an SVG of its own."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from observatory.dashboard.pages.badge import badge
from observatory.store.records.alerts import Alert, Alerts

GREY, RED, AMBER, GREEN = "#57606a", "#b3261e", "#8a5300", "#1a7f37"


def alerts(*states: str, judged: int = 10) -> Alerts:
    found = [
        Alert.model_construct(id=f"{number:016x}", state=state, kind="slower", series=[])
        for number, state in enumerate(states)
    ]
    return Alerts.model_construct(alerts=found, judged=judged)


@pytest.mark.parametrize(
    ("states", "said", "colour"),
    [
        (("new", "open"), "1 new alert", RED),
        (("new", "new"), "2 new alerts", RED),
        (("open", "expired", "acknowledged"), "2 open alerts", AMBER),
        (("resolved", "acknowledged"), "no open alert", GREEN),
        ((), "no open alert", GREEN),
    ],
)
def test_the_badge_says_what_is_new_before_what_is_open(
    states: tuple[str, ...], said: str, colour: str
) -> None:
    made = badge(alerts(*states))
    assert ElementTree.fromstring(made).attrib["aria-label"] == f"observatory: {said}"
    assert colour in made.decode()
    assert made == badge(alerts(*states))


def test_without_a_series_that_was_judged_it_is_not_green() -> None:
    made = badge(alerts(judged=0)).decode()
    assert "nothing judged yet" in made
    assert GREEN not in made


def test_it_asks_for_nothing_and_runs_nothing() -> None:
    root = ElementTree.fromstring(badge(alerts("new")))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags == {"svg", "title", "rect", "path", "g", "text"}
    assert not [name for element in root.iter() for name in element.attrib if "href" in name]
