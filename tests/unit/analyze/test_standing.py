"""Red for what is new or wrong, amber for what is old and open, green otherwise."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from observatory.analyze.history.alerts import FAILED, STALE
from observatory.analyze.history.segments import segmented
from observatory.analyze.history.series import Line
from observatory.analyze.history.standing import by_need, retired_alerts, standing
from observatory.store.records.alerts import (
    Alert,
    Alerts,
    At,
    SeriesChange,
    WrongCount,
    at_of,
)
from observatory.text.standing import news, status, waiting
from tests.factories_alerts import line, series, stepped

DAY = datetime(2026, 5, 4, tzinfo=UTC)
AT = At(label="3.3.8", commit="a" * 40, date=DAY)
PLACE = ("radon warm_disk NUMBA fork", "cache_misses")


def alert(state: str, kind: str = "slower", number: int = 0) -> Alert:
    told = SeriesChange(
        machine="m", env_name="e", benchmark=PLACE[0], metric=PLACE[1], unit="functions",
        kind="exact", before=0, after=1, now=1, last_good=AT, first_bad=AT, newest=AT, holds=True,
    )  # fmt: skip
    return Alert(
        id=f"{number:010x}", kind=kind, sentence="s", last_good=AT, first_bad=AT, between=0,
        series=[told], state=state, first_seen=DAY, seen_with=DAY, state_since=DAY,  # type: ignore[arg-type]
    )  # fmt: skip


def record(*alerts: Alert, **given: Any) -> Alerts:
    fields = {"observatory": "0", "newest": DAY, "last_good": DAY, "judged": 9, **given}
    return Alerts(**fields, alerts=list(alerts))


@pytest.mark.parametrize(
    ("alerts", "light", "words"),
    [
        ([], "good", "All well"),
        ([("open", "slower")], "open", "Decide"),
        ([("acknowledged", "wrong results")], "good", "All well"),
        ([("open", "wrong results")], "bad", "Wrong"),
        ([("new", "slower")], "bad", "New alert"),
        ([("expired", "slower")], "bad", "New alert"),
        ([("event", "another default")], "good", "All well"),
        ([("open", "stale")], "open", "Some machines send nothing"),
        ([("new", "failed run")], "bad", "The last run failed"),
    ],
)
def test_the_light_follows_from_what_is_new_or_wrong(alerts, light, words) -> None:
    found = standing(record(*(alert(*one, n) for n, one in enumerate(alerts))))
    assert (found.light, status(found, late=False)) == (light, words)
    assert standing(record(judged=0)).light == "unknown"


def test_what_is_new_comes_first_and_then_what_waits() -> None:
    old = standing(record(alert("open"), alert("open", number=1), alert("acknowledged", number=2)))
    assert news(old) == "Nothing new."
    assert waiting(old) == "2 older alerts wait for a decision. 1 alert is acknowledged."
    new = standing(record(alert("new", "wrong results")))
    assert news(new) == "1 new alert: wrong results since 3.3.8."
    kinds = ("slower", "slower", "keys collide")
    more = standing(record(*(alert("new", kind, n) for n, kind in enumerate(kinds))))
    assert news(more) == "3 new alerts: keys collide and slower (2)."


def test_a_machine_that_newly_sends_nothing_is_news() -> None:
    found = standing(record(alert("new", STALE)))
    assert (news(found), waiting(found)) == ("", "1 environment sent nothing new.")
    assert news(standing(record(alert("open", STALE)))) == "Nothing new."


def test_a_run_that_failed_hides_no_new_alert() -> None:
    found = standing(record(alert("open", FAILED), alert("new", number=1)))
    assert news(found) == "The newest run failed. 1 new alert: slower since 3.3.8."


def test_what_is_wrong_comes_first_among_what_waits() -> None:
    found = standing(record(alert("open"), alert("open", "keys collide", 1)))
    assert waiting(found) == ("2 older alerts wait for a decision, first keys collide since 3.3.8.")


def test_a_wrong_value_is_red_unless_an_alert_speaks_of_it() -> None:
    wrong = [WrongCount(benchmark=PLACE[0], metric=PLACE[1])]
    assert standing(record(wrong=wrong)).light == "bad"
    assert standing(record(alert("acknowledged"), wrong=wrong)).light == "good"
    told = alert("open")
    assert standing(record(told, wrong=wrong)).light == "open"
    over = [one.model_copy(update={"holds": False}) for one in told.series]
    assert standing(record(told.model_copy(update={"series": over}), wrong=wrong)).light == "bad"


def test_alerts_of_what_is_no_longer_measured_wait_for_nobody() -> None:
    found = standing(record(alert("open"), retired=[f"{0:010x}"]))
    assert (found.light, found.waiting, len(found.retired)) == ("good", (), 1)


def test_alerts_are_retired_where_their_machine_measures_something_else_since() -> None:
    def slower(on: Line, number: int) -> Alert:
        one = alert("open", number=number)
        told = {"machine": on.machine, "newest": at_of(on.subjects[-1])}
        return one.model_copy(update={"series": [one.series[0].model_copy(update=told)]})

    before = replace(line(20), env_name="observatory-py3.12")
    lines = line(60), before, line(20, machine="stopped")
    late = [
        alert("open", STALE, number).model_copy(update={"about": one.name, "series": []})
        for number, one in enumerate(lines)
    ]
    alerts = [*late, *(slower(one, number) for number, one in enumerate(lines, start=3))]
    tracks = list(segmented([series(one, stepped(len(one.subjects))) for one in lines]))
    assert retired_alerts(alerts, tracks) == {alerts[1].id, alerts[4].id}
    over = [one.model_copy(update={"state": "resolved"}) for one in alerts]
    assert retired_alerts(over, tracks) == frozenset()


def test_alerts_come_by_impact_and_what_may_be_wrong_comes_first() -> None:
    def slower(number: int, after: float, **changes: object) -> Alert:
        one = alert("open", number=number)
        told = {"kind": "noisy", "before": 1.0, "after": after, **changes}
        return one.model_copy(update={"series": [one.series[0].model_copy(update=told)]})

    alerts = [
        slower(1, 1.5, low=1.01, high=2.0),  # large, and hardly sure
        slower(2, 1.2, low=1.19, high=1.21), slower(3, 3.0), alert("open", number=4),
        alert("open", "keys collide", 5),
    ]  # fmt: skip
    found = standing(record(*alerts)).waiting
    assert [int(one.id, 16) for one in found] == [5, 4, 3, 2, 1]


def test_nobody_decides_about_alerts_whose_series_are_not_measured_any_more() -> None:
    old, still = alert("open", number=1), alert("open", number=2)
    found = record(old, still, retired=[old.id])
    assert found.needing() == [still]
    known = alert("acknowledged", number=3)
    assert record(known).measured("acknowledged") == [known]
    assert record(known, retired=[known.id]).measured("acknowledged") == []
    assert standing(found).needing == (still,)


def test_all_alerts_come_in_the_order_in_which_they_need_a_person() -> None:
    small = alert("open", number=1)
    small = small.model_copy(
        update={"series": [one.model_copy(update={"kind": "noisy", "ratio": 1.3, "low": 1.2})
                           for one in small.series]}
    )  # fmt: skip
    gone = alert("new", number=2)
    others = [alert(state, number=n) for n, state in enumerate(
        ("resolved", "event", "acknowledged", "open", "expired"), start=3)]  # fmt: skip
    failed = alert("open", FAILED, number=9)
    found = by_need(record(small, gone, *others, failed, retired=[gone.id]))
    resolved, event, known, large, expired = others
    assert found == [failed, expired, large, small, known, event, gone, resolved]
