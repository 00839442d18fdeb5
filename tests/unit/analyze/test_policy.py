"""Which changes are alerts, and which are listed as small changes."""

from __future__ import annotations

import math

import pytest

from observatory.analyze.history.policy import MINIMUM, assess, impact
from observatory.analyze.statements import Occurrence, Statement
from observatory.store.records.alerts import Alerts, Change, SeriesChange, at_of
from tests.factories_alerts import (
    CELL,
    detected,
    line,
    moment,
    series,
    stepped,
    subject,
    watched,
)

FIRST, BEFORE = at_of(subject(40)), at_of(subject(39))


def change(ratio: float, kind: str = "noisy", sure: float = 1.0) -> SeriesChange:
    """A series that grew; the interval reaches down to so much of its logarithm."""
    interval = {"low": ratio**sure, "high": ratio ** (2 - sure)} if kind == "noisy" else {}
    return SeriesChange(
        machine="bench", env_name="py", benchmark=" ".join(CELL), metric="compile_time",
        unit="seconds", kind=kind, before=1.0, after=ratio, ratio=ratio, last_good=BEFORE,
        first_bad=FIRST, newest=FIRST, holds=True, **interval,
    )  # fmt: skip


def occurrence(*changes: SeriesChange, over: bool = False) -> Occurrence:
    made = Change(id="0" * 10, kind="slower to build", sentence="", last_good=BEFORE,
                  first_bad=FIRST, between=0, series=list(changes))  # fmt: skip
    return Occurrence(made, True, Statement("level changed"), FIRST if over else None)


def reason(one: Occurrence, *, told: bool = False, first: bool = False) -> str | None:
    return assess(one, told=told, first=first).reason


def test_impact_is_size_times_certainty_times_the_root_of_the_number_of_series() -> None:
    alone = impact([change(1.10)])
    assert alone == pytest.approx(math.log(1.1))
    assert impact([change(1.10, sure=0.5)]) == pytest.approx(alone / 2)
    assert impact([change(1.10)] * 4) == pytest.approx(2 * alone)


def test_five_per_cent_in_one_series_is_told_and_two_are_not() -> None:
    assert reason(occurrence(change(1.05, sure=0.8))) is None
    assert reason(occurrence(change(1.02))) == "small"
    assert reason(occurrence(*[change(1.02)] * 3)) is None


def test_however_many_series_move_at_once_the_change_is_told() -> None:
    """It may be the machine's; it may be a regression as well."""
    assert reason(occurrence(*[change(1.06)] * 400)) is None


def test_an_alert_stays_one_while_half_of_the_least_impact_is_left() -> None:
    small = occurrence(change(1 + 0.7 * MINIMUM["noisy"]))
    assert reason(small) == "small"
    assert reason(small, told=True) is None


def test_neither_work_nor_times_hide_the_other_in_one_change() -> None:
    work, time = change(1.01, "near_exact"), change(1.01)
    assert reason(occurrence(time)) == "small"
    assert reason(occurrence(work, time)) is None
    assert reason(occurrence(change(1.001, "near_exact"), change(1.2))) is None


def test_counts_always_alert() -> None:
    assert reason(occurrence(change(1.0001, "exact"), change(1.001))) is None


def test_what_went_back_before_it_was_told_is_listed_once() -> None:
    over = occurrence(change(1.3), over=True)
    assert reason(over) == "went back"
    assert reason(over, told=True) is None
    assert reason(over, first=True) is None


def slower(by: float, nights: int = 160, previous: Alerts | None = None) -> Alerts:
    given = watched(nights, series(line(nights), stepped(nights, 60, by)))
    return detected(given, moment(nights, previous))


def test_a_small_change_is_listed_and_not_lost() -> None:
    found = slower(1.03)
    assert not found.alerts
    (small,) = found.smaller
    assert small.reason == "small"
    assert 0.01 < small.impact < MINIMUM["noisy"]
    assert "slower" in small.sentence


def test_an_alert_that_turns_out_to_be_a_small_change_says_so() -> None:
    before = slower(1.10, 80)
    (alert,) = slower(1.015, 300, before).alerts
    assert (alert.id, alert.state) == (before.alerts[0].id, "resolved")
    assert "too small for an alert" in (alert.resolution or "")
