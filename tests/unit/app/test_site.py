"""From results directories to what the pages show."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from observatory.analyze.history.alerts import AlertContext
from observatory.analyze.history.faults import FAULTS
from observatory.analyze.history.settings_changes import SETTINGS
from observatory.app.history import find_alerts
from observatory.app.observed import site_data
from observatory.store.asv.files import project
from observatory.store.records import alerts as record
from observatory.store.records import settings, torture
from observatory.store.records.triage import Triage
from tests import factories_settings as factory
from tests.factories import LATER, NOON, RUN, WARM, header, journal, ledger, sample
from tests.factories_torture import fault
from tests.factories_torture import torture as tried


def measured(results: Path, label: str, misses: int, day: int, run: str = RUN) -> None:
    found = sample(WARM, "counting", {"cache_misses": misses}, ledger=ledger("Add"),
                   started_at=NOON + timedelta(days=day))  # fmt: skip
    under = header(label, commit=f"{day}" * 40, date=NOON + timedelta(days=day))
    project(results, journal(results, [found], run, under).read())


MOMENT = AlertContext(NOON + timedelta(days=9), timedelta(days=30), Triage(), None)
LATE = NOON + timedelta(days=2)


def written(results: Path) -> record.Alerts:
    found, _ = find_alerts(results, MOMENT)
    record.save(results, found)
    return found


def test_alerts_that_were_made_of_these_results_are_taken_as_they_are(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.6", 0, 1)
    measured(tmp_path, "3.3.7", 5, 2)
    found = written(tmp_path)
    assert [alert.kind for alert in found.alerts]
    assert site_data([tmp_path])[0].alerts == found


def test_alerts_of_other_results_are_found_anew(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.6", 0, 1)
    measured(tmp_path, "3.3.7", 0, 2)
    assert written(tmp_path).alerts == []
    measured(tmp_path, "3.3.7", 5, 2, LATER)
    (alert,) = site_data([tmp_path])[0].alerts.alerts
    assert alert.first_bad.label == "3.3.7"


def test_other_settings_and_faults_that_were_recorded_later_are_alerts_too(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.6", 0, 1)
    assert written(tmp_path).alerts == []
    settings.save(tmp_path, factory.settings("3.3.6", both=factory.misses(3)))
    (alert,) = written(tmp_path).alerts
    assert alert.kind == SETTINGS
    assert site_data([tmp_path])[0].alerts.alerts == [alert]
    settings.save(tmp_path, factory.settings("3.3.6"))
    (alert,) = site_data([tmp_path])[0].alerts.alerts
    assert alert.state == "resolved"
    torture.save(tmp_path, tried("3.3.6", [fault("full")], NOON))
    torture.save(tmp_path, tried("3.3.7", [fault("full", "raises")], LATE))
    assert FAULTS in [one.kind for one in site_data([tmp_path])[0].alerts.alerts]


def test_a_broken_record_of_settings_is_named_once(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.6", 0, 1)
    settings.save(tmp_path, factory.settings("3.3.6")).write_text("{")
    for problems in (find_alerts(tmp_path, MOMENT)[1], site_data([tmp_path])[1]):
        assert ["settings" in str(one.path) for one in problems] == [True]


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_counts_of_several_directories_are_followed_by_date(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    measured(tmp_path / "a", "3.3.6", 0, 1)
    measured(tmp_path / "b", "3.3.7", 5, 2)
    found, problems = site_data([tmp_path / name for name in order])
    assert problems == []
    (alert,) = found.alerts.alerts
    assert alert.first_bad.label == "3.3.7"
    assert not found.alerts.improvements


def test_what_was_compiled_is_there_by_subject(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.6", 0, 1)
    found, _ = site_data([tmp_path])
    (functions,) = found.functions_at.values()
    assert [one.name for one in functions[str(WARM)]] == ["Add"]


def test_the_same_results_give_the_same_pages_wherever_they_are(tmp_path: Path) -> None:
    for place in ("a", "b"):
        measured(tmp_path / place, "3.3.6", 0, 1)
        measured(tmp_path / place, "3.3.7", 5, 2)
    first, second = (site_data([tmp_path / place])[0] for place in ("a", "b"))
    assert first.ids == second.ids
    assert first.alerts == second.alerts


def test_a_broken_calibration_is_named_on_the_pages(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.6", 0, 1)
    (tmp_path / "calibrations").mkdir()
    (tmp_path / "calibrations" / "bench.json").write_text("{")
    found, problems = site_data([tmp_path])
    assert [str(problem) for problem in problems] == list(found.problems)
    assert "is no calibration" in found.problems[0]
