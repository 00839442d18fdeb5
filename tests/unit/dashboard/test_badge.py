"""The badge says what the alerts say, in words and in a colour, and is an SVG of its own."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from observatory.analyze.history.alerts import FAILED, STALE
from observatory.analyze.history.standing import standing
from observatory.dashboard.pages.badge import badge
from observatory.store.records.alerts import Alert, Alerts, WrongCount
from observatory.text.alerts import open_alerts

GREY, RED, AMBER, GREEN = "#57606a", "#b3261e", "#8a5300", "#1a7f37"


def alerts(*states: str, judged: int = 10, kind: str = "slower", **given: object) -> Alerts:
    found = [
        Alert.model_construct(id=f"{number:016x}", state=state, kind=kind, series=[])
        for number, state in enumerate(states)
    ]
    return Alerts.model_construct(alerts=found, judged=judged, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("states", "said", "colour"),
    [
        (("new", "open"), "1 new alert", RED),
        (("new", "new"), "2 new alerts", RED),
        (("open", "open", "acknowledged"), "2 open alerts", AMBER),
        (("open", "expired", "acknowledged"), "2 open alerts", RED),
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


def test_the_colour_is_that_of_the_first_page_and_the_words_are_those_of_the_terminal() -> None:
    """For each way in which alerts can stand: one function says it for all of them."""
    wrong = [WrongCount(benchmark="radon warm_disk C fork", metric="cache_misses")]
    ways = {
        "wrong values that wait": (alerts("open", kind="wrong results"), "1 open alert", RED),
        "one that waits, and something untold": (
            alerts("open", wrong=wrong), "something is wrong", RED
        ),
        "of series that are no longer measured": (
            alerts("open", retired=[f"{0:016x}"]), "no open alert", GREEN
        ),
        "a machine that newly sends nothing": (
            alerts("new", kind=STALE), "1 open alert", AMBER
        ),
        "a run that failed": (alerts("new", kind=FAILED), "1 new alert", RED),
        "counts alone": (alerts(judged=0, compared=40), "no open alert", GREEN),
        "nothing": (alerts(judged=0), "nothing judged yet", GREY),
    }  # fmt: skip
    lights = {"bad": RED, "open": AMBER, "good": GREEN, "unknown": GREY}
    for way, (given, said, colour) in ways.items():
        made = badge(given).decode()
        assert (said in made, colour in made) == (True, True), way
        assert lights[standing(given).light] == colour, way
        open_ones = len(standing(given).needing)
        assert f"{open_ones} alert" in open_alerts(given) or way == "nothing", way


def test_without_a_series_that_was_judged_it_is_not_green() -> None:
    made = badge(alerts(judged=0)).decode()
    assert "nothing judged yet" in made
    assert GREEN not in made


def test_it_asks_for_nothing_and_runs_nothing() -> None:
    root = ElementTree.fromstring(badge(alerts("new")))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags == {"svg", "title", "rect", "path", "g", "text"}
    assert not [name for element in root.iter() for name in element.attrib if "href" in name]
