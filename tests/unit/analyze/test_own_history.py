"""What the committed results say: the story of PyTensor's caches, as it is known otherwise."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from observatory.analyze.history.alerts import AlertContext
from observatory.app.history import find_alerts
from observatory.store.records.alerts import Alert, Alerts
from observatory.store.records.triage import Triage

RESULTS = Path(__file__).parents[3] / "results"


@pytest.fixture(scope="module")
def found() -> Alerts:
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    alerts, problems = find_alerts(RESULTS, AlertContext(now, timedelta(days=365), Triage(), None))
    assert problems == []
    return alerts


def of(found: Alerts, kind: str, first_bad: str) -> Alert:
    (one,) = [a for a in found.alerts if (a.kind, a.first_bad.label) == (kind, first_bad)]
    return one


def test_the_cache_that_2_36_0_brought_is_its_improvement(found: Alerts) -> None:
    (told,) = [
        change.sentence
        for change in found.improvements
        if change.first_bad.label == "2.36.0" and change.kind == "fewer cache_misses"
    ]
    assert told.startswith("cache_misses 105 → 0 in radon warm_disk NUMBA fork and 5 more cells")
    assert "with it compile_time" in told


def test_wrong_results_came_with_it_and_went_with_2_38_3(found: Alerts) -> None:
    alert = of(found, "wrong results", "2.36.0")
    assert alert.state == "resolved"
    assert alert.last_good is not None
    assert alert.resolved_by is not None
    assert (alert.last_good.label, alert.resolved_by.label) == ("2.35.1", "2.38.3")
    assert {series.benchmark for series in alert.series} == {"radon siblings NUMBA fork"}


def test_nothing_wrong_and_no_miss_of_a_warm_cache_is_open(found: Alerts) -> None:
    open_ = found.in_state("new", "open", "expired")
    acknowledged = {
        one["id"] for one in tomllib.loads(Path("results/triage.toml").read_text())["acknowledged"]
    }
    assert {alert.kind for alert in open_ if alert.id not in acknowledged}.isdisjoint(
        {"wrong results", "crashed", "failed run", "stale", "keys differ between processes"}
    )


def test_series_that_are_new_or_too_short_are_said_to_be(found: Alerts) -> None:
    assert found.judged >= 60
    unwatched, short = found.unjudged
    assert unwatched.reason.startswith("no earlier value to compare with")
    assert unwatched.count >= 18  # those of PyMC's sampling, of which there is one subject
    assert short.reason.startswith("fewer than 10 subjects")
    assert short.count > 0
