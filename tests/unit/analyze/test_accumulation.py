"""Many small losses, each too small to count or accepted, that add up to an alert."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np

from observatory.analyze.history.series import Series
from observatory.analyze.series_keys import SeriesKey
from observatory.store.records.alerts import Acknowledgement, Alert, Alerts
from observatory.store.records.triage import Triage
from tests.factories_alerts import CELL, detected, line, moment, night, series, watched

KIND = "slow drift in small steps: "


def work(nights: int, *steps: float, cell: Sequence[str] = CELL, noise: float = 0.0) -> Series:
    """Instructions of one build: ``steps`` are the relative changes of the last nights."""
    ratios = np.concatenate([np.ones(nights - len(steps)), 1 + np.array(steps)])
    values = 2e9 * np.cumprod(ratios)
    values *= np.exp(noise * np.random.default_rng(3).standard_normal(nights))
    place = SeriesKey(*cell, "instructions", "instructions", "near_exact")
    return Series.of(line(nights), place, np.arange(nights), values)


def drifts(found: Alerts) -> list[Alert]:
    return [one for one in found.alerts if one.kind.startswith(KIND)]


def test_steps_that_are_small_each_are_an_alert_when_they_add_up() -> None:
    few, many = ([0.0015] * number for number in (6, 7))
    assert drifts(detected(watched(20, work(20, *few)), moment(20))) == []
    (alert,) = drifts(detected(watched(20, work(20, *many)), moment(20)))
    assert alert.kind == f"{KIND}more work"
    assert alert.last_good is not None
    assert (alert.last_good.label, alert.first_bad.label) == ("n12", "n19")
    assert alert.state == "new"


def test_waits_that_a_busy_disk_adds_to_are_no_drift() -> None:
    place = SeriesKey(*CELL, "waiting_time", "seconds", "near_exact")
    values = 0.1 * np.cumprod(np.concatenate([np.ones(10), np.full(10, 1.2)]))
    one = Series.of(line(20), place, np.arange(20), values)
    assert drifts(detected(watched(20, one), moment(20))) == []


def test_the_sentence_has_the_range_and_the_largest_contributors() -> None:
    found = detected(
        watched(20, work(20, 0.0011, 0.0019, 0.0012, 0.0018, 0.0013, 0.0017, 0.0014)), moment(20)
    )
    assert drifts(found)[0].sentence == (
        "instructions of radon warm_disk NUMBA spawn grew since n12: +1 % "
        "(2,000,000,000 → 2,020,892,346) in 7 small or accepted steps, the largest at "
        "n14 (+0.19 %), n16 (+0.18 %), n18 (+0.17 %) and 4 more"
    )


def test_a_large_step_that_nobody_accepted_is_no_part_of_a_drift() -> None:
    large = work(20, *[0.0015] * 4, 0.02, *[0.0015] * 4)
    assert drifts(detected(watched(20, large), moment(20))) == []


def test_what_is_won_back_is_not_counted() -> None:
    up_and_down = work(60, *[0.0018, -0.0017] * 25)
    assert drifts(detected(watched(60, up_and_down), moment(60))) == []


def test_noise_alone_never_adds_up() -> None:
    """0.06 % is what two environments of one subject differ by."""
    assert drifts(detected(watched(1000, work(1000, noise=0.0006)), moment(1000))) == []


def test_a_drift_is_over_when_less_than_half_of_it_is_left_and_not_before() -> None:
    rising = [0.0015] * 8
    states = [
        drifts(detected(watched(20, work(20, *rising, fall)), moment(20)))[0].state
        for fall in (-0.005, -0.008)
    ]
    assert states == ["new", "resolved"]


def test_losses_after_a_drift_that_is_over_are_an_alert_of_their_own() -> None:
    again = [*[0.0015] * 8, -0.008, *[0.0015] * 20]
    new, over = drifts(detected(watched(40, work(40, *again)), moment(40)))
    assert (over.last_good.label, new.last_good.label) == ("n10", "n19")
    assert over.series[0].holds is False
    assert new.series[0].holds is True
    assert (over.state, new.state) == ("resolved", "open")


def test_it_is_the_same_alert_night_after_night() -> None:
    whole, before, found = work(24, *[0.0015] * 11), None, []
    for nights in range(20, 25):
        seen = Series.of(line(nights), whole.place, whole.at[:nights], whole.values[:nights])
        before = detected(watched(nights, seen), moment(nights, before))
        found += drifts(before)
    assert [one.state for one in found] == ["new", "open", "open", "open", "open"]
    assert len({one.id for one in found}) == 1


def test_series_that_drift_together_are_one_alert_and_the_largest_is_told() -> None:
    other = ("radon", "warm_process", "NUMBA", "spawn")
    both = [work(20, *[0.0015] * 8), work(20, *[0.0019] * 8, cell=other)]
    (alert,) = drifts(detected(watched(20, *both), moment(20)))
    assert [one.benchmark.split()[1] for one in alert.series] == ["warm_process", "warm_disk"]
    assert "and of 1 more series grew since n11" in alert.sentence


def staircase() -> Series:
    values = 0.25 * np.exp(0.002 * np.random.default_rng(3).standard_normal(60))
    for place in (15, 30, 45):
        values[place:] *= 1.04
    return series(line(60), values)


def accepted(found: Alerts, days: int) -> Triage:
    now = night(59)
    return Triage(
        acknowledged=[
            Acknowledgement(id=one.id, who="Ada", why="w", at=now, until=now + timedelta(days=days))
            for one in found.alerts
        ]
    )


def test_accepted_steps_of_a_time_add_up_and_open_ones_do_not() -> None:
    first = detected(watched(60, staircase()), moment(60))
    assert [one.kind for one in first.alerts] == ["slower to build"] * 3
    known = accepted(first, days=30)
    second = detected(watched(60, staircase()), moment(60, first, known))
    (alert,) = drifts(second)
    assert alert.kind == f"{KIND}slower to build"
    assert (alert.state, alert.first_bad.label) == ("new", "n45")
    assert "grew since n0: +13 % (250 → 281 ms) in 3 small or accepted steps" in alert.sentence
    assert "n15 (+4.1 %, accepted)" in alert.sentence
    assert [one.state for one in second.alerts].count("acknowledged") == 3


def test_an_acknowledgement_that_ended_accepts_nothing() -> None:
    first = detected(watched(60, staircase()), moment(60))
    assert drifts(detected(watched(60, staircase()), moment(60, first, accepted(first, 0)))) == []
