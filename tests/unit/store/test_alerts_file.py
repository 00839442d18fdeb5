"""``results/alerts.json``: written whole, read back, and refused with a sentence if broken."""

from pathlib import Path

import pytest

from observatory.store.base.problems import RecordError
from observatory.store.records import alerts as record
from observatory.store.records.alerts import Alert, Alerts, At, SeriesChange
from tests.factories import NOON
from tests.factories_alerts import detected, line, moment, series, stepped, watched


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    found = detected(watched(80, series(line(80), stepped(80, 40))), moment(80))
    path = record.save(tmp_path, found)
    assert path == tmp_path / "alerts.json"
    assert record.load(tmp_path) == found
    assert len(found.alerts) == 1


def test_without_a_file_nothing_was_known(tmp_path: Path) -> None:
    assert record.load(tmp_path) is None


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"schema": "observatory/alerts/9"}'])
def test_a_broken_file_says_what_to_do(tmp_path: Path, content: str) -> None:
    (tmp_path / "alerts.json").write_text(content)
    with pytest.raises(RecordError, match="restore it from git, or remove it"):
        record.load(tmp_path)


def change(before: float, after: float, ratio: float | None = None) -> SeriesChange:
    return SeriesChange.model_construct(before=before, after=after, ratio=ratio)


def test_the_largest_changes_that_need_a_person_are_chosen() -> None:
    def one(name: str, state: str, *found: SeriesChange) -> Alert:
        at = At(label=name, commit=name, date=NOON)
        return Alert.model_construct(id=name, first_bad=at, series=list(found), state=state)

    alerts = Alerts.model_construct(alerts=[
        one("stale", "new"), one("small", "new", change(1.0, 1.1)),
        one("large", "open", change(1.0, 1.05), change(2.0, 1.0)),
        one("by ratio", "open", change(1.0, 1.0, 1.5)), one("wrong", "expired", change(0, 7)),
        one("known", "acknowledged", change(1.0, 99.0)), one("over", "resolved", change(0, 9)),
    ])  # fmt: skip
    order = ["wrong", "large", "by ratio", "small", "stale", "known", "over"]
    assert [each.id for each in alerts.chosen(7)] == order
    assert [each.id for each in alerts.chosen(2)] == order[:2]
    assert next(each.id for each in alerts.chosen()) == "stale"  # as in the file
