"""A change of work is an alert at the first subject that has it; its times are part of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from observatory.analyze.comparison.comparing import Who
from observatory.analyze.comparison.rules import COUNTED
from observatory.analyze.history import detection
from observatory.analyze.history.machine_floors import MachineFloors
from observatory.analyze.history.segments import segmented
from observatory.analyze.history.series import Series
from observatory.analyze.series_keys import SeriesKey
from observatory.analyze.statements import Statement
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.alerts import Alert, Alerts
from observatory.store.records.calibration import Calibration, Floor
from observatory.store.records.sample import Sample
from tests.factories import NOON, header, traced
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

OTHER = ("radon", "warm_process", "NUMBA", "spawn")
NIGHTS = 20


def work(*changes: float, cell: Sequence[str] = CELL) -> Series:
    """Python calls of one build: ``changes`` are the relative changes of the last nights."""
    values = np.full(NIGHTS, 500_000.0)
    values[NIGHTS - len(changes) :] *= np.cumprod(1 + np.array(changes))
    place = SeriesKey(*cell, "python_calls", "calls", "near_exact")
    return Series.of(line(NIGHTS), place, np.arange(NIGHTS), values)


def found(*given: Series, before: Alerts | None = None) -> Alerts:
    return detected(watched(NIGHTS, *given), moment(NIGHTS, before))


def the_alert(*given: Series) -> Alert:
    (alert,) = found(*given).alerts
    return alert


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ((2e7, 0.0, 2e7, 2e7), {"more memory left"}),  # as of any win that is lost again
        ((0.0, 0.0, 0.0, 2e7), {"more memory left"}),
        ((0.0, 3_000.0, 0.0, 3_000.0), set()),
    ],
)
def test_memory_of_zero_hides_no_later_memory(values: tuple[float, ...], kinds: set[str]) -> None:
    place = SeriesKey(*CELL, "retained_bytes", "bytes", "near_exact")
    whole = np.array([values[0]] * (NIGHTS - len(values)) + [*values])
    alerts = found(Series.of(line(NIGHTS), place, np.arange(NIGHTS), whole)).alerts
    open_ones = [one for one in alerts if one.state != "resolved"]
    assert {one.kind for one in open_ones} == kinds
    assert all("nan" not in one.sentence and "inf" not in one.sentence for one in alerts)


@pytest.mark.parametrize(
    ("values", "first_bad"),
    [
        ((0.2, 0.21, 0.2, 0.2, 0.3), "n15"),
        ((0.2, 0.21, 0.2, 0.2), None),  # the fifth night may have none
        ((0.3, 0.001, 0.2, 0.2, 0.2), None),  # a disk was busy
        ((0.2,) * 12, "n8"),
        ((0.2,) * (NIGHTS - 4), None),  # nor are four nights before it enough
        ((0.4, *(0.001,) * 5), None),
    ],
)
def test_a_longer_wait_is_an_alert_once_five_nights_have_it(
    values: tuple[float, ...], first_bad: str | None
) -> None:
    place = SeriesKey(*OTHER, "waiting_time", "seconds", "near_exact")
    whole = np.array([0.001] * (NIGHTS - len(values)) + [*values])
    waits = Series.of(line(NIGHTS), place, np.arange(NIGHTS), whole)
    (track,) = segmented([waits])
    assert track.reason == Statement("in a row", (5,))
    alerts = found(waits).alerts
    assert [one.first_bad.label for one in alerts] == [first_bad] * (first_bad is not None)
    assert {one.kind for one in alerts} <= {"longer waits"}
    for one in alerts:
        assert one.sentence == (
            "waiting_time of radon warm_process NUMBA spawn grew: ×200 (1.00 → 200 ms)"
        )


def test_first_builds_that_wait_for_a_disk_every_night_are_no_alert() -> None:
    place = SeriesKey(*CELL, "waiting_time", "seconds", "near_exact")
    waits = np.repeat([0.001, 0.4], NIGHTS // 2)
    assert found(Series.of(line(NIGHTS), place, np.arange(NIGHTS), waits)).alerts == []


def test_half_a_per_cent_more_work_is_an_alert_in_the_first_night() -> None:
    alert = the_alert(work(0.005))
    assert alert.last_good is not None
    assert (alert.kind, alert.last_good.label, alert.first_bad.label) == ("more work", "n18", "n19")
    assert alert.sentence == (
        "python_calls of radon warm_disk NUMBA spawn grew: +0.5 % (500,000 → 502,500); a change "
        "counts from 0.4 % on (default noise)"
    )


@pytest.mark.parametrize("change", [0.0015, -0.005])
def test_less_than_the_floor_and_less_work_are_no_alert(change: float) -> None:
    assert found(work(change)).alerts == []


@pytest.mark.parametrize("cell", ["warm_disk C_VM", "warm_process C_VM", "warm_disk NUMBA"])
def test_half_a_per_cent_more_work_is_an_alert_with_every_backend(cell: str) -> None:
    assert len(found(work(0.005, cell=("radon", *cell.split(), "spawn"))).alerts) == 1


def test_less_work_is_an_improvement() -> None:
    (better,) = found(work(-0.005)).improvements
    assert better.kind == "less work"


def test_what_grew_at_one_subject_is_one_alert_and_the_next_subject_is_another() -> None:
    both = found(work(0.01, 0.0), work(0.02, 0.0, cell=OTHER))
    assert [len(one.series) for one in both.alerts] == [2]
    assert "2 series grew (+1 to +2 %), most of all python_calls of radon warm_process" in (
        both.alerts[0].sentence
    )
    apart = found(work(0.01, 0.0), work(0.0, 0.02, cell=OTHER))
    assert [one.first_bad.label for one in apart.alerts] == ["n19", "n18"]


@pytest.mark.parametrize(("back", "state"), [(-0.004, "new"), (-0.006, "resolved")])
def test_it_is_over_when_less_than_half_of_it_is_left(back: float, state: str) -> None:
    alerts = found(work(0.01, back)).alerts
    assert [one.state for one in alerts] == [state]


@pytest.mark.parametrize(
    ("again", "withdrawn"),
    [
        (work(0.0, 0.0), True),
        (work(0.0001, -0.0001), True),
        (work(0.01, -0.01), False),  # as it was
        (work(0.0, 0.0, cell=OTHER), False),  # its cell is no longer measured
    ],
)
def test_an_alert_that_was_over_is_withdrawn_if_its_subject_measured_again_differs_no_more(
    again: Series, withdrawn: bool
) -> None:
    first = found(work(0.01, -0.01))
    (over,) = first.alerts
    assert over.resolution == "it has been over since n19"
    assert over.resolved_by is not None
    before = first
    for _ in range(2):  # and it stays so
        before = found(again, before=before)
        (now,) = before.alerts
        said = (now.id, now.state, now.state_since)
        assert said == (over.id, "resolved", over.state_since)
        assert str(now.resolution).startswith("withdrawn") == withdrawn
        assert (now.resolved_by is None) == withdrawn


def test_an_alert_that_was_over_is_not_withdrawn_while_files_cannot_be_read() -> None:
    first = found(work(0.01, -0.01))
    unread = replace(watched(NIGHTS, work(0.0, 0.0)), unread=frozenset({"bench"}))
    assert detected(unread, moment(NIGHTS, first)).alerts == first.alerts


def test_an_alert_of_several_cells_is_withdrawn_only_if_none_of_them_differs() -> None:
    first = found(work(0.01, -0.01), work(0.01, -0.01, cell=OTHER))
    one = found(work(0.0, 0.0), work(0.001, -0.001, cell=OTHER), before=first)
    assert [str(one.resolution)[:9] for one in one.alerts] == ["withdrawn"]
    half = found(work(0.0, 0.0), before=first)  # the other one is not measured
    assert half.alerts == first.alerts


def test_it_is_the_same_alert_in_the_next_night() -> None:
    whole = work(0.01, 0.0)
    seen = Series.of(line(19), whole.place, whole.at[:19], whole.values[:19])
    first = detected(watched(19, seen), moment(19))
    again = found(whole, before=first)
    assert [one.state for one in (*first.alerts, *again.alerts)] == ["new", "open"]
    assert first.alerts[0].id == again.alerts[0].id


def test_a_time_that_moved_with_the_work_of_its_cell_is_part_of_its_alert() -> None:
    changes = (0.0,) * 9
    alert = the_alert(work(0.1, *changes), series(line(NIGHTS), stepped(NIGHTS, 10)))
    assert alert.kind == "more work"
    assert [one.metric for one in alert.series] == ["python_calls", "compile_time"]


def test_a_time_that_moved_with_the_wait_of_its_cell_is_part_of_its_alert() -> None:
    place = SeriesKey(*OTHER, "waiting_time", "seconds", "near_exact")
    waits = np.repeat([0.001, 0.2], NIGHTS // 2)
    longer = series(line(NIGHTS), stepped(NIGHTS, NIGHTS // 2), cell=OTHER)
    alert = the_alert(Series.of(line(NIGHTS), place, np.arange(NIGHTS), waits), longer)
    assert alert.kind == "longer waits"
    assert {one.metric for one in alert.series} == {"waiting_time", "compile_time"}


def test_a_time_of_another_cell_or_at_another_subject_is_an_alert_of_its_own() -> None:
    changes = (0.0,) * 9
    slow = series(line(NIGHTS), stepped(NIGHTS, 10))
    kinds = [one.kind for one in found(work(0.1, *changes, cell=OTHER), slow).alerts]
    assert sorted(kinds) == ["more work", "slower to build"]
    kinds = [one.kind for one in found(work(0.1), slow).alerts]
    assert sorted(kinds) == ["more work", "slower to build"]


def test_profiles_of_both_subjects_say_where_the_work_begins() -> None:
    """What still holds is explained, and then what is over, too."""
    asked = []

    def samples(who: Who) -> list[Sample]:
        asked.append(who)
        return [traced(calls[who[2]], Cell(*CELL))]

    calls = {subject(n).commit: 510_000 if n in {16, 19} else 500_000 for n in range(NIGHTS)}
    given = replace(watched(NIGHTS, work(0.02, -0.02, 0.0, 0.02)), samples=samples)
    alerts = detected(given, moment(NIGHTS)).alerts
    assert [one.state for one in alerts] == ["new", "resolved"]
    for one in alerts:
        assert (
            "; `f` was entered 500,000 times, now 510,000 (100 % of the additional calls); "
            in one.sentence
        )
    assert {*asked} == {
        ("bench", "observatory-py3.13", subject(n).commit) for n in (15, 16, 18, 19)
    }


def test_where_too_many_changes_have_profiles_those_that_hold_are_explained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reading a profile takes a while."""
    monkeypatch.setattr(detection, "_EXPLAINED", 1)
    asked = []

    def samples(who: Who) -> list[Sample]:
        asked.append(who[2])
        return []

    held = work(0.0, 0.02, 0.0, 0.0, 0.0)
    over = work(0.02, -0.02, 0.0, cell=OTHER)
    detected(replace(watched(NIGHTS, held, over), samples=samples), moment(NIGHTS))
    assert {*asked} == {subject(15).commit, subject(16).commit}


def test_values_without_a_ratio_are_not_judged() -> None:
    zero = work(0.0)
    zero.values[3] = 0
    assert found(zero).alerts == []


def test_the_change_that_counts_is_said() -> None:
    (track,) = segmented([work(0.0)])
    assert track.reason == Statement("compared", (pytest.approx(0.004, abs=1e-5), 0))
    (track,) = segmented([work(0.0)], floors=learned(0.0))
    assert track.reason == Statement("compared", (pytest.approx(0.0025, abs=1e-5), 20))


def learned(noise: float, cpu: str | None = None) -> MachineFloors:
    """The floors of the machine of these series, calibrated with 20 samples."""
    where = work(0.0).line
    machine = header().machine.model_copy(
        update={"machine": where.machine, "cpu": where.era.cpu if cpu is None else cpu}
    )
    floor = Floor(cell=Cell(*CELL), metric="python_calls", kind="near_exact", samples=20,
                  change=noise / math.sqrt(COUNTED))  # fmt: skip
    under = header()
    return MachineFloors([
        Calibration(machine=machine, subject=under.subject, versions=under.versions,
                    taken_at=NOON, floors=[floor])
    ])  # fmt: skip


def test_work_that_varies_more_on_a_machine_must_change_more_to_be_an_alert() -> None:
    """A calibration with another CPU says nothing, and none blinds the judge."""
    for noise, cpu, change, is_alert in [
        (0.004, None, 0.0055, False), (0.004, None, 0.0065, True), (0.004, "other", 0.0055, True),
        (0.0, None, 0.0055, True), (9.0, None, 0.0095, False), (9.0, None, 0.0105, True),
    ]:  # fmt: skip
        given = replace(watched(NIGHTS, work(change)), floors=learned(noise, cpu))
        assert bool(detected(given, moment(NIGHTS)).alerts) == is_alert, (noise, cpu, change)


def test_an_alert_says_from_how_many_samples_its_noise_was_learned() -> None:
    given = replace(watched(NIGHTS, work(0.0065)), floors=learned(0.004))
    (alert,) = detected(given, moment(NIGHTS)).alerts
    assert alert.sentence.endswith("counts from 0.6 % on (noise learned from 20 samples)")


def test_a_change_that_no_longer_counts_after_a_calibration_is_not_said_to_be_gone() -> None:
    given = watched(NIGHTS, work(0.0055))
    first = detected(given, moment(NIGHTS))
    (alert,) = detected(replace(given, floors=learned(0.004)), moment(NIGHTS, first)).alerts
    assert (alert.id, alert.state) == (first.alerts[0].id, "resolved")
    assert alert.resolution == (
        "withdrawn: with the values measured or the noise learned since then, it no longer counts "
        "as a change"
    )
