"""Faults that a release withstands worse than the one before it, and the alerts on them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from observatory.analyze.history.alerts import STALE_AFTER, AlertContext
from observatory.analyze.history.detection import Detected, Histories, detect_changes
from observatory.analyze.history.faults import (
    FAULTS,
    before_it,
    fault_changes,
    fault_records,
    moved,
)
from observatory.store.records.alerts import Alerts
from observatory.store.records.torture import Torture
from observatory.store.records.triage import Triage
from observatory.text.records import alerts_of
from tests.factories_torture import fault, torture

DAY = timedelta(days=1)
FIRST = datetime(2026, 3, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 26, tzinfo=UTC)


def releases(*verdicts: str | None, certain: bool = True) -> list[Torture]:
    """A release a day, each of which withstands one fault in this way."""
    return [
        torture(f"3.{at}.0", [fault("full", verdict, certain=certain)], FIRST + at * DAY)
        for at, verdict in enumerate(verdicts)
    ]


def detected(records: list[Torture], before: Alerts | None = None) -> Detected:
    context = AlertContext(NOW, STALE_AFTER, Triage(), before)
    found = list(fault_changes(records))
    given = Histories([], [], [], without_series=found, records=fault_records(records))
    return detect_changes(given, context)


def test_nothing_changed_is_no_change() -> None:
    assert list(fault_changes(releases("raises", "raises"))) == []
    assert list(fault_changes(releases("raises", "safe"))) == []
    assert list(fault_changes(releases("raises"))) == []


def test_a_worse_verdict_is_a_change_at_the_first_release_that_has_it() -> None:
    (found,) = fault_changes(releases("safe", "recompiles", "recompiles"))
    assert (found.change.kind, found.worse, found.recovered) == (FAULTS, True, None)
    assert found.change.last_good is not None
    assert (found.change.last_good.label, found.change.first_bad.label) == ("3.0.0", "3.1.0")


def test_the_next_processes_count_too() -> None:
    once, again = torture("3.0.0", [fault("full", "raises", "safe")]), torture("3.1.0")
    worse = torture("3.1.0", [fault("full", "raises", "raises")], again.started_at + DAY)
    assert [one.worse for one in moved(once, worse)] == [True]
    assert [one.worse for one in moved(worse, once)] == [False]


def test_what_chance_decides_or_was_not_tried_is_not_compared() -> None:
    assert list(fault_changes(releases("safe", "WRONG", certain=False))) == []
    known_now = [*releases("safe"), *releases("safe", "WRONG", certain=False)[1:]]
    assert list(fault_changes(known_now)) == []
    assert list(fault_changes(releases("safe", None))) == []
    assert list(fault_changes(releases(None, "WRONG"))) == []


def test_the_cache_of_another_version_may_be_used_or_not() -> None:
    """Which of both is right depends on what the two versions changed; a wrong number never is."""
    for verdict, worse in ("recompiles", 0), ("slower", 1), ("WRONG", 1):
        before, after = (
            torture(label, [fault("of_pytensor", found, "safe", group="foreign")], FIRST + at * DAY)
            for at, (label, found) in enumerate((("3.0.0", "safe"), ("3.1.0", verdict)))
        )
        assert len(list(fault_changes([before, after]))) == worse
    own = [
        torture("3.0.0", [fault("full")], FIRST),
        torture("3.1.0", [fault("full", "recompiles")]),
    ]
    assert len(list(fault_changes(own))) == 1


def test_one_release_is_one_change_however_many_faults_got_worse() -> None:
    names = ("full", "killed", "linked")
    before = torture("3.0.0", [fault(name) for name in names], FIRST)
    after = torture("3.1.0", [fault(name, "raises") for name in names], FIRST + DAY)
    (found,) = fault_changes([after, before])
    (alert,) = alerts_of(detected([before, after]), "1").alerts
    assert found.change.id == alert.id
    assert alert.sentence == (
        "3.1.0 copes worse than 3.0.0 with 3 faults: numba's cache raises every time where full is "
        "done (before: safe); numba's cache raises every time where killed is done (before: "
        "safe); numba's cache raises every time where linked is done (before: safe)"
    )


def test_it_is_over_when_a_release_withstands_it_as_before() -> None:
    (found,) = fault_changes(releases("safe", "raises", "recompiles", "safe"))
    assert found.recovered is not None
    assert found.recovered.label == "3.3.0"
    (alert,) = alerts_of(detected(releases("safe", "raises", "safe")), "1").alerts
    assert (alert.state, alert.resolution) == ("resolved", "it has been over since 3.2.0")


def test_machines_and_pythons_are_not_compared_with_each_other() -> None:
    one = torture("3.0.0", [fault("full")], FIRST, machine="a")
    other = torture("3.1.0", [fault("full", "WRONG")], FIRST + DAY, machine="b")
    assert list(fault_changes([one, other])) == []
    assert before_it(other, [one]) is None
    assert before_it(torture("3.1.0", date=FIRST + DAY, machine="a"), [one, other]) == one


def test_finer_steps_are_no_change() -> None:
    coarse = torture("3.0.0", [fault("full")], FIRST, steps=2)
    fine = torture("3.1.0", [fault("full", "raises")], FIRST + DAY, steps=12)
    assert list(fault_changes([coarse, fine])) == []
    assert before_it(fine, [coarse]) is None


def test_an_alert_keeps_its_id_and_its_state_from_night_to_night() -> None:
    records = releases("safe", "raises")
    first = alerts_of(detected(records), "1")
    second = alerts_of(detected(records, first), "1")
    third = alerts_of(detected([*records, *releases("safe", "raises", "raises")[2:]], second), "1")
    ids = [[alert.id for alert in found.alerts] for found in (first, second, third)]
    assert ids[0] == ids[1] == ids[2]
    assert len(ids[0]) == 1
    assert first.alerts[0].first_seen == third.alerts[0].first_seen


@pytest.mark.parametrize("left", ["the first", "the last", "other steps"])
def test_an_alert_whose_records_are_gone_is_not_withdrawn(left: str) -> None:
    """A file that is deleted or cannot be read does not show that the fault is withstood."""
    both = releases("safe", "raises")
    first = alerts_of(detected(both), "1")
    records = {"the first": both[:1], "the last": both[1:], "other steps": [
        both[0], both[1].model_copy(update={"steps": 3}),
    ]}[left]  # fmt: skip
    (alert,) = alerts_of(detected(records, first), "1").alerts
    assert alert.state != "resolved"
    assert "records that it follows from are gone" in " ".join(alert.notes)


def test_an_alert_whose_records_changed_is_withdrawn_and_not_forgotten() -> None:
    first = alerts_of(detected(releases("safe", "raises")), "1")
    (alert,) = alerts_of(detected(releases("safe", "safe"), first), "1").alerts
    assert alert.state == "resolved"
    assert alert.resolution is not None
    assert alert.resolution.startswith("withdrawn")
