"""Settings that are worse with one subject than with the one before it, and the alerts on them."""

from __future__ import annotations

from datetime import UTC, datetime

from observatory.analyze.history.alerts import STALE_AFTER, AlertContext
from observatory.analyze.history.detection import Histories, detect_changes
from observatory.analyze.history.settings_changes import (
    SETTINGS,
    settings_changes,
    settings_records,
)
from observatory.store.records.alerts import Alerts
from observatory.store.records.settings import Row, Settings
from observatory.store.records.triage import Triage
from observatory.text.records import alerts_of
from observatory.text.statements import sentence_of
from tests.factories_settings import failing, leaked, misses, settings

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def line(*subjects: dict[str, Row]) -> list[Settings]:
    """The records of one subject a day."""
    return [settings(f"3.{at}.0", at, **rows) for at, rows in enumerate(subjects)]


def detected(records: list[Settings], before: Alerts | None = None) -> Alerts:
    context = AlertContext(NOW, STALE_AFTER, Triage(), before)
    found = list(settings_changes(records))
    given = Histories([], [], [], without_series=found, records=settings_records(records))
    return alerts_of(detect_changes(given, context), "1")


def sentences(*subjects: dict[str, Row]) -> list[str]:
    return [sentence_of(one.statement) for one in settings_changes(line(*subjects))]


def test_what_is_as_usual_is_no_change() -> None:
    assert sentences({}, {}) == []
    assert sentences({"usual": leaked(8), "cxx": leaked(8)}) == []


def test_the_settings_that_all_worse_rows_share_are_named() -> None:
    worse = {"both": misses(3), "float32": misses(2)}
    (told,) = sentences({}, worse)
    assert told == (
        "3.1.0 is worse than 3.0.0 with 2 combinations of settings: with floatX=float32, 3 "
        "cache_misses of radon warm_disk too many"
    )
    (told,) = sentences({}, worse | {"cxx": misses(1)})
    assert "with 3 combinations of settings: with 3 combinations, 3 cache_misses" in told


def test_what_the_subject_before_has_too_is_no_change() -> None:
    first = {"both": misses(3)}
    assert len(sentences(first, first, {"both": misses(2)})) == 1
    assert len(sentences(first, first, {"both": misses(4)})) == 2
    assert len(sentences(first, {"float32": misses(3)})) == 2


def test_more_than_usual_is_worse_only_as_far_as_it_is_above() -> None:
    before = {"usual": leaked(8), "cxx": leaked(9)}
    assert len(sentences(before, {"usual": leaked(16), "cxx": leaked(17)})) == 1
    (_, told) = sentences(before, {"usual": leaked(16), "cxx": leaked(19)})
    assert told.endswith("with cxx=, 3 files_leaked of radon warm_disk too many")


def test_what_is_not_right_with_the_first_subject_is_told_without_a_last_good_one() -> None:
    (found,) = settings_changes(line({"usual": misses(3)}, {"usual": misses(3)}))
    assert (found.change.last_good, found.change.first_bad.label) == (None, "3.0.0")
    assert sentence_of(found.statement) == (
        "3.0.0 is not right with 1 combination of settings: with the usual settings, 3 "
        "cache_misses of radon warm_disk too many"
    )


def test_a_failure_is_told_in_its_words_and_another_one_is_a_change() -> None:
    first = {"cxx": failing("no compiler")}
    (told,) = sentences(first, first)
    assert told == (
        "3.0.0 is not right with 1 combination of settings: with cxx=, radon warm_disk C_VM: no "
        "compiler"
    )
    assert len(sentences(first, {"cxx": failing("no memory")})) == 2


def test_rows_with_other_settings_than_before_are_compared_with_the_worst_one() -> None:
    """With one more setting, every row has another name."""
    first, second = line({"both": misses(3)}, {"both": misses(3)})
    rows = [one.model_copy(update={"name": f"{one.name} and more"}) for one in second.rows]
    assert len(list(settings_changes([first, second.model_copy(update={"rows": rows})]))) == 1


def test_it_is_over_when_every_row_gives_no_more_than_before() -> None:
    first = {"both": misses(3), "cxx": misses(1)}
    (found,) = settings_changes(line({}, first, {"both": misses(3)}, {}))
    assert found.recovered is not None
    assert found.recovered.label == "3.3.0"
    (alert,) = detected(line({}, first, {})).alerts
    assert (alert.kind, alert.state) == (SETTINGS, "resolved")
    assert alert.resolution == "it has been over since 3.2.0"


def test_machines_are_not_compared_with_each_other() -> None:
    one = settings("3.0.0", 0, "a", both=misses(3))
    other = settings("3.1.0", 1, "b", both=misses(3))
    assert [found.change.last_good for found in settings_changes([one, other])] == [None, None]


def test_an_alert_keeps_its_id_and_is_withdrawn_where_its_record_changed() -> None:
    worse = {"both": misses(3)}
    first = detected(line({}, worse))
    second = detected(line({}, worse, worse), first)
    assert [one.id for one in first.alerts] == [one.id for one in second.alerts]
    assert first.alerts[0].first_seen == second.alerts[0].first_seen
    (alert,) = detected(line({}), second).alerts
    assert alert.state != "resolved"
    (alert,) = detected(line({}, {}), second).alerts
    assert alert.state == "resolved"
    assert str(alert.resolution).startswith("withdrawn")
