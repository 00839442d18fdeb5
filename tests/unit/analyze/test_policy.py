"""Which changes are alerts, and which are listed as smaller changes."""

from __future__ import annotations

from observatory.analyze.history.detection import Detected
from tests.factories_alerts import detected, line, moment, series, stepped, watched


def _slower(by: float) -> Detected:
    return detected(watched(80, series(line(80), stepped(80, 60, by))), moment(80))


def test_ten_per_cent_in_one_series_is_an_alert() -> None:
    found = _slower(1.10)
    assert [one.alert.kind for one in found.alerts] == ["slower to build"]


def test_four_per_cent_in_one_series_is_a_smaller_change_and_not_lost() -> None:
    found = _slower(1.04)
    assert not found.alerts
    most = max(assessed.impact for _, assessed in found.smaller)
    assert {assessed.reason for _, assessed in found.smaller} == {"small"}
    assert 0.01 < most < 0.04
