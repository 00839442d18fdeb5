"""A series has one key wherever it is named, however long the names are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from observatory.analyze.history.alerts import AlertContext
from observatory.analyze.history.segments import segmented
from observatory.analyze.history.series import series_of
from observatory.app.history import find_alerts
from observatory.dashboard.site_input import SiteInput
from observatory.store.reading.read import Results, read_results
from observatory.store.records.alerts import Alerts, cut, series_id
from observatory.store.records.triage import Triage
from tests.factories_alerts import night, stepped, subject
from tests.factories_asv import foreign, put, row

LONG = "virtualenv-py3.12-" + "-".join(f"requirement{n}" for n in range(30))
NAMES = ("short", LONG + "-one", LONG + "-other")


def test_a_short_name_is_its_own_key() -> None:
    """Ids and links that people have depend on it."""
    assert cut("x" * 200) == "x" * 200
    assert series_id("m", "e", "b" * 4000, "time") == ("m", "e", "b" * 4000, "time")


def test_long_names_with_one_beginning_stay_different() -> None:
    one, other = cut(LONG + "-one"), cut(LONG + "-other")
    assert one != other
    assert len(one) == len(other) == 200
    assert one[:180] == LONG[:180]


def measured(results: Path, values: Sequence[float], env_name: str) -> Results:
    """A result file for each night."""
    for n, value in enumerate(values):
        content = foreign(
            {"bench.time_it": row(result=[value])}, env_name=env_name,
            commit_hash=subject(n).commit, date=int(night(n).timestamp() * 1000),
        )  # fmt: skip
        put(results, content, f"{subject(n).commit[:8]}-x.json")
    return read_results(results)


@pytest.mark.parametrize("env_name", NAMES)
def test_an_alert_keeps_its_identity_and_its_series(env_name: str, tmp_path: Path) -> None:
    """A step that is placed elsewhere the next night, and in the end is seen no more."""
    previous: Alerts | None = None
    history = (stepped(40), stepped(60, 40), stepped(61, 42), stepped(62))
    ids, states = [], []
    for values in history:
        read = measured(tmp_path, values.tolist(), env_name)
        now = night(len(values) - 1) + timedelta(hours=1)
        previous, problems = find_alerts(
            tmp_path, AlertContext(now, timedelta(days=2), Triage(), previous)
        )
        assert problems == []
        tracks = list(segmented(series_of(read)))
        observed = SiteInput(tracks, read.files, previous, "0.1")
        verdicts = observed.verdicts_on(tracks[0])
        for alert in previous.alerts:
            ids.append(alert.id)
            states.append(alert.state)
            assert alert.notes == []
            assert [one.id for one, _ in verdicts.alerts] == [alert.id]
            assert observed.by_key[alert.series[0].key] == [0]
            where = alert.series[0].machine, alert.series[0].env_name
            assert observed.spots[(*where, alert.first_bad.commit)] is not None
    assert states == ["new", "open", "resolved"]
    assert len(set(ids)) == 1
    assert (previous.alerts[0].resolution or "").startswith("withdrawn")
