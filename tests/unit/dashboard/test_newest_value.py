"""What the newest value is like, in words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from observatory.analyze.history.segments import segmented
from observatory.dashboard.pages.newest_value import NewestChange, newest_change
from observatory.dashboard.site_input import SiteInput
from observatory.store.records.alerts import Acknowledgement, Alerts
from observatory.store.records.triage import Triage
from tests.factories_alerts import detected, line, moment, series, stepped, watched


def moved(values: Any, metric: str = "compile_time", said: Triage | None = None) -> NewestChange:
    nights = len(values)
    found = series(line(nights), values, metric)
    alerts = detected(watched(nights, found), moment(nights, triage=said))
    site = observed(found, alerts)
    return newest_change(site, site.tracks[0])


def observed(found: Any, alerts: Alerts) -> SiteInput:
    return SiteInput(list(segmented([found])), (), alerts, "0.1")


def test_a_quiet_series_is_as_before_within_its_noise() -> None:
    found = moved(stepped(60))
    assert (found.state, found.words) == ("quiet", "as before")
    assert found.noise.endswith("\N{MULTIPLICATION SIGN} noise")
    assert float(found.noise.split("\N{MULTIPLICATION SIGN}")[0]) < 3


def test_a_step_for_the_worse_is_told_since_when() -> None:
    found = moved(stepped(60, 50, 1.3))
    assert found.state == "bad"
    assert found.words == "slower: +30 % since n50"


def test_a_recent_step_for_the_better_is_told_and_an_old_one_is_not() -> None:
    assert moved(stepped(60, 55, 0.4)).state == "good"
    assert "faster: ÷2.5 since n55" in moved(stepped(60, 55, 0.4)).words
    assert moved(stepped(60, 30, 0.5)).words == "as before"


def test_a_single_value_far_off_is_not_confirmed() -> None:
    values = stepped(60)
    values[-1] *= 1.5
    found = moved(values)
    assert found.state == "doubt"
    assert found.words == "slower: +52 %, not confirmed"


def test_what_is_acknowledged_says_so() -> None:
    values = stepped(60, 50, 1.3)
    now = moment(60).now
    found = series(line(60), values)
    (alert,) = detected(watched(60, found), moment(60)).alerts
    said = Acknowledgement(id=alert.id, who="w", why="y", at=now, until=now + timedelta(days=9))
    known = moved(values, said=Triage(acknowledged=[said]))
    assert known.state == "doubt"
    assert known.words.endswith("since n50, acknowledged")


def test_a_series_that_went_back_is_quiet_though_another_one_of_its_alert_did_not() -> None:
    on, values = line(80), stepped(80, 30, 1.3)
    values[50:] /= 1.3
    other = ("radon", "warm_disk", "C", "spawn")
    both = [series(on, values), series(on, stepped(80, 30, 1.3, seed=5), cell=other)]
    alerts = detected(watched(80, *both), moment(80))
    assert [alert.state for alert in alerts.alerts] == ["open"]
    site = SiteInput(list(segmented(both)), (), alerts, "0.1")
    assert [newest_change(site, track).state for track in site.tracks] == ["quiet", "bad"]


def test_an_alert_that_is_over_says_nothing_of_the_newest_value() -> None:
    """Files of older versions have alerts that were withdrawn while their series hold."""
    found = series(line(60), stepped(60, 30, 1.3))
    alerts = detected(watched(60, found), moment(60))
    (alert,) = alerts.alerts
    over = alerts.model_copy(update={"alerts": [alert.model_copy(update={"state": "resolved"})]})
    words = []
    for one in (alerts, over):
        site = observed(found, one)
        words.append(newest_change(site, site.tracks[0]).words)
    assert words == ["slower: +31 % since n30", "as before"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.25], "first value"),
        ([0.25, 0.25], "as before, too few values"),
        ([0.25, 0.5], "slower: ×2, too few values"),
    ],
)
def test_what_cannot_be_judged_is_described(values: list[float], words: str) -> None:
    found = moved(np.array(values))
    assert (found.state, found.words, found.noise) == ("quiet", words, "")


def test_memory_is_larger_or_smaller_and_not_slower() -> None:
    assert "larger: +30 % since n50" in moved(stepped(60, 50, 1.3), "peak_rss").words
