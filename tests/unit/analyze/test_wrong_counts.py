"""What is wrong in the newest subject, whether or not an alert speaks of it."""

from __future__ import annotations

import numpy as np
import pytest

from observatory.analyze.history.segments import segmented
from observatory.analyze.history.series import Series
from observatory.analyze.history.wrong_counts import wrong_counts
from observatory.analyze.series_keys import SeriesKey
from observatory.dashboard.feed import atom
from observatory.dashboard.pages.badge import badge
from observatory.store.records.alerts import Alerts, WrongCount
from observatory.text.alerts import open_alerts, verdict
from tests.factories_alerts import detected, line, moment, series, stepped, watched

NAME = "radon warm_disk NUMBA fork"


def counts(
    values: list[float], metric: str = "cache_misses", name: str = NAME, machine: str = "bench"
) -> Series:
    place = SeriesKey(*name.split(), metric, "functions", "exact")
    return Series.of(line(len(values), machine), place, np.arange(len(values)), np.array(values))


def found(*those: Series) -> list[tuple[str, str]] | None:
    wrong = wrong_counts(list(segmented(those)))
    return None if wrong is None else [(one.benchmark, one.metric) for one in wrong]


def always_wrong() -> Alerts:
    return detected(watched(3, counts([105, 105, 105]), series(line(3), stepped(3))), moment(3))


def test_a_cache_that_has_always_missed_is_wrong() -> None:
    assert found(counts([105, 105, 105])) == [(NAME, "cache_misses")]
    assert found(counts([105, 105, 0])) == []
    assert found() is None


def test_only_the_newest_subject_counts() -> None:
    older = counts([2, 2], name="radon warm_disk C fork", machine="other")
    assert found(older, counts([0, 0, 0])) == []
    assert found(older, counts([0, 1])) == [
        ("radon warm_disk C fork", "cache_misses"), (NAME, "cache_misses"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("radon cold NUMBA fork", "cache_misses"),  # every cold cache misses
        ("radon warm_disk JAX fork", "cache_misses"),  # a fact about an optional package
        ("radon warm_disk NUMBA fork", "graph_nodes"),
    ],
)
def test_where_no_value_is_the_right_one_none_is_wrong(name: str, metric: str) -> None:
    assert found(counts([7, 7], metric, name)) == []


def test_what_was_never_right_is_not_called_well() -> None:
    alerts = always_wrong()
    assert not alerts.alerts
    sentence = "Something has been wrong since the first subject; 0 alerts open"
    assert open_alerts(alerts) == sentence
    assert verdict(alerts, moment(3).now).startswith(f"{sentence}; last good run ")
    assert sentence in atom(alerts, moment(3).now).decode()
    assert "something is wrong" in badge(alerts).decode()


def test_what_an_alert_speaks_of_is_not_said_again() -> None:
    alerts = detected(watched(60, series(line(60), stepped(60, 40))), moment(60))
    (alert,) = alerts.alerts
    one = alert.series[0]
    known = WrongCount(benchmark=one.benchmark, metric=one.metric)
    acknowledged = alert.model_copy(update={"state": "acknowledged"})
    told = alerts.model_copy(update={"wrong": [known], "alerts": [acknowledged]})
    assert open_alerts(told) == "0 alerts open; 1 acknowledged"
    other = known.model_copy(update={"metric": "cache_misses"})
    untold = told.model_copy(update={"wrong": [known, other]})
    assert open_alerts(untold).startswith("Something has been wrong since the first subject; ")


def test_a_record_that_does_not_know_what_is_wrong_claims_nothing() -> None:
    older = always_wrong().model_copy(update={"wrong": None, "compared": 2})
    assert open_alerts(older) == "0 alerts open"
    assert open_alerts(older.model_copy(update={"wrong": []})) == "Nothing is wrong: 0 alerts open"
