"""The life of alerts: found anew each night, and never gone without a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from observatory.analyze.history.alerts import update_alerts
from observatory.analyze.history.recorded import Recorded, Run
from observatory.analyze.history.series import Series
from observatory.analyze.statements import Occurrence, Statement, id_of
from observatory.store.records.alerts import (
    Acknowledgement,
    Alert,
    Alerts,
    Change,
    SeriesChange,
    at_of,
)
from observatory.store.records.triage import Triage
from tests.factories_alerts import detected, line, moment, night, series, stepped, subject, watched


def nightly(
    nights: int,
    *found: Series,
    previous: Alerts | None = None,
    triage: Triage | None = None,
    failures: Mapping[str, Sequence[str]] | None = None,
) -> Alerts:
    return detected(watched(nights, *found, failures=failures), moment(nights, previous, triage))


def slow(nights: int, place: int = 40, **options: object) -> Series:
    return series(line(nights), stepped(nights, place), **options)  # type: ignore[arg-type]


def only(alerts: Alerts) -> Alert:
    (alert,) = alerts.alerts
    return alert


def said(id_: str, at: int, until: int) -> Triage:
    entry = Acknowledgement(id=id_, who="Ada", why="known", at=night(at), until=night(until))
    return Triage(acknowledged=[entry])


def test_the_life_of_an_alert() -> None:
    """Appears, stays one, is acknowledged, expires, comes back to the list, is resolved."""
    values = stepped(120, 40)
    values[80:] /= 1.3

    def on(nights: int, previous: Alerts | None, triage: Triage | None = None) -> Alerts:
        found = series(line(nights), values[:nights])
        return nightly(nights, found, previous=previous, triage=triage)

    quiet = on(40, None)
    assert quiet.alerts == []
    appeared = on(50, quiet)
    alert = only(appeared)
    assert alert.state == "new"
    assert alert.kind == "slower to build"
    assert abs((alert.first_bad.date - night(40)).days) <= 2
    again = on(50, appeared)
    assert only(again).state == "new"  # nothing was measured since: a second look changes nothing
    assert again == appeared
    stays = on(55, again)
    assert (only(stays).state, only(stays).id) == ("open", alert.id)
    assert only(stays).first_seen == alert.first_seen
    triage = said(alert.id, at=56, until=70)
    known = on(60, stays, triage)
    assert only(known).state == "acknowledged"
    assert only(known).acknowledged == triage.acknowledged[0]
    expired = on(75, known, triage)
    assert (only(expired).state, only(expired).id) == ("expired", alert.id)
    over = on(95, expired, triage)
    assert (only(over).state, only(over).id) == ("resolved", alert.id)
    assert over.alerts[0].resolved_by is not None
    assert abs((over.alerts[0].resolved_by.date - night(80)).days) <= 2
    assert only(on(110, over, triage)).state == "resolved"


def test_what_comes_back_after_it_was_resolved_is_another_alert() -> None:
    values = stepped(130, 40)
    values[70:] /= 1.3
    values[100:] *= 1.3
    found = nightly(130, series(line(130), values))
    states = [(alert.state, (alert.first_bad.date - night(0)).days) for alert in found.alerts]
    assert [state for state, _ in states] == ["open", "resolved"]
    assert [abs(place - true) <= 2 for (_, place), true in zip(states, (100, 40), strict=True)] == [
        True,
        True,
    ]


def test_what_is_old_is_not_new_because_nobody_looked_before() -> None:
    assert only(nightly(60, slow(60, 40))).state == "open"
    assert only(nightly(45, slow(45, 40))).state == "new"
    quiet = series(line(39), stepped(39))
    assert only(nightly(60, slow(60, 40), previous=nightly(39, quiet))).state == "new"


def test_a_step_keeps_its_id_while_its_place_is_still_uncertain() -> None:
    """With more nights a step may be placed a few subjects away."""
    first = nightly(50, slow(50, 40))
    moved = nightly(60, slow(60, 43), previous=first)
    assert only(moved).id == only(first).id
    assert only(moved).first_bad != only(first).first_bad
    elsewhere = nightly(70, slow(70, 58), previous=first)
    assert only(first).id != next(a for a in elsewhere.alerts if a.state != "resolved").id


def test_cells_that_moved_together_are_one_alert() -> None:
    on = line(80)
    cells = [("radon", "warm_disk", backend, "spawn") for backend in ("C", "C_VM", "NUMBA")]
    found = [
        series(on, stepped(80, 40 + late, seed=late), cell=cell) for late, cell in enumerate(cells)
    ]
    alert = only(nightly(80, *found))
    assert len(alert.series) == 3
    assert "3 series" in alert.sentence


def test_cells_that_moved_at_other_subjects_are_other_alerts() -> None:
    on = line(80)
    other = ("radon", "warm_disk", "C", "spawn")
    found = nightly(
        80, series(on, stepped(80, 30)), series(on, stepped(80, 45, seed=5), cell=other)
    )
    assert len(found.alerts) == 2
    assert [len(alert.series) for alert in found.alerts] == [1, 1]


def test_two_causes_at_one_subject_stay_two() -> None:
    on = line(80)
    call = ("radon", "call", "NUMBA", "spawn")
    building = series(on, stepped(80, 40))
    calling = series(on, stepped(80, 40, seed=8), metric="call_time", cell=call)
    kinds = {alert.kind for alert in nightly(80, building, calling).alerts}
    assert kinds == {"slower to build", "slower to call"}


def test_an_id_never_passes_to_a_change_of_other_series() -> None:
    """Two causes of one kind can begin at one subject: an id would follow from both."""
    radon, census, ended = (
        _leak("siblings", 40), _leak("census_warm", 40), _leak("call", 40, id_="aaaaaaaaaa")
    )  # fmt: skip
    first = _updated([radon], None)
    own = radon.change.id
    second_id = id_of(own, "2")
    before = first.model_copy(update={"alerts": [*first.alerts, _resolved(ended, second_id)]})
    for found in ([census, radon], [radon, census]):
        later = _updated(found, before)
        ids = {alert.series[0].benchmark.split()[1]: alert.id for alert in later.alerts}
        assert ids["siblings"] == own
        assert ids["call"] == second_id
        assert ids["census_warm"] not in {own, second_id}
        again = _updated(found[::-1], later)
        assert {(one.id, one.series[0].key) for one in again.alerts} == {
            (one.id, one.series[0].key) for one in later.alerts
        }


def test_where_the_old_series_are_calm_another_change_gets_an_id_of_its_own() -> None:
    first = _updated([_leak("siblings", 40)], None)
    later = _updated([_leak("census_warm", 40)], first, said(only(first).id, at=60, until=200))
    states = {alert.series[0].benchmark.split()[1]: alert.state for alert in later.alerts}
    assert states["census_warm"] in {"new", "open"}


def test_of_several_alerts_a_change_is_the_one_with_most_series_in_common() -> None:
    one, other = _leak("siblings", 40), _leak("siblings", 40, id_="aaaaaaaaaa")
    more = _leak("call", 40).change.series
    wide = replace(
        other, change=other.change.model_copy(update={"series": [*other.change.series, *more]})
    )
    before = _updated([one, wide], None)
    moved = replace(wide, change=wide.change.model_copy(update={"id": "bbbbbbbbbb"}))
    found = _updated([moved], before).alerts
    assert [alert.id for alert in found if len(alert.series) == 2] == ["aaaaaaaaaa"]


def _leak(scenario: str, place: int, id_: str | None = None) -> Occurrence:
    benchmark = f"radon {scenario} NUMBA spawn"
    one = SeriesChange(
        machine="bench", env_name="observatory-py3.13", benchmark=benchmark,
        metric="files_leaked", unit="files", kind="exact", before=1, after=2, now=2,
        last_good=at_of(subject(place - 1)), first_bad=at_of(subject(place)),
        newest=at_of(subject(59)), holds=True,
    )  # fmt: skip
    change = Change(
        id=id_ or id_of("files leaked", subject(place).commit), kind="files leaked", sentence="",
        last_good=one.last_good, first_bad=one.first_bad, between=0, series=[one],
    )  # fmt: skip
    return Occurrence(change, True, Statement("cause began", ()))


def _updated(
    found: Sequence[Occurrence],
    previous: Alerts | None,
    triage: Triage | None = None,
    failures: Mapping[str, Sequence[str]] | None = None,
) -> Alerts:
    states = update_alerts(found, _recorded(found, failures), moment(60, previous, triage))
    empty = nightly(39, series(line(39), stepped(39)))
    return empty.model_copy(update={"alerts": [one.alert for one in states]})


def _recorded(
    found: Sequence[Occurrence], failures: Mapping[str, Sequence[str]] | None = None
) -> Recorded:
    keys = frozenset(one.key for o in found for one in o.change.series)
    positions = {subject(n).commit: n for n in range(60)}
    run = Run("bench", "observatory-py3.13", at_of(subject(59)), night(59), failures=failures or {})
    return Recorded((run,), keys, {("bench", "observatory-py3.13"): [positions]})


def _resolved(one: Occurrence, id_: str) -> Alert:
    alert = only(_updated([one], None))
    return alert.model_copy(update={"id": id_, "state": "resolved"})


def test_what_somebody_decided_is_an_event_whatever_was_said_of_it() -> None:
    one = _leak("siblings", 59)
    change = one.change.model_copy(update={"kind": "another default"})
    decided = replace(one, change=change)
    first = _updated([decided], None)
    assert only(first).state == "event"
    assert only(_updated([decided], first, said(change.id, at=40, until=50))).state == "event"
    assert (
        only(_updated([replace(decided, recovered=at_of(subject(59)))], first)).state == "resolved"
    )


def test_a_renamed_benchmark_resolves_nothing_silently() -> None:
    first = nightly(60, slow(60))
    gone = np.full(90, np.nan)
    gone[:60] = stepped(60, 40)
    renamed = np.full(90, np.nan)
    renamed[60:] = 1.3 * stepped(90)[60:]
    new_name = ("radon", "warm_disk", "NUMBA_NEW", "spawn")
    on = line(90)
    after = nightly(90, series(on, gone), series(on, renamed, cell=new_name), previous=first)
    alert = only(after)
    assert (alert.id, alert.state) == (only(first).id, "open")
    assert alert.notes == ["it has no value since n59: not measured, failed, renamed or removed"]
    removed = nightly(90, series(on, renamed, cell=new_name), previous=after)
    assert only(removed).state == "open"
    assert "no longer in the results" in only(removed).notes[0]


def test_an_alert_that_is_over_told_of_no_change_that_holds_now() -> None:
    """What is told already stays an alert while half of the least impact is left."""
    holds = _leak("siblings", 40)
    over = replace(holds, recovered=at_of(subject(50)))
    recorded, told = _recorded([holds]), only(_updated([holds], None))
    resolved = _resolved(holds, holds.change.id)
    assert recorded.told(holds, [told])
    assert not recorded.told(holds, [resolved])
    assert recorded.told(over, [resolved])  # it is that one, and stays in the list


def test_times_that_only_describe_a_count_are_no_series_that_ended() -> None:
    count = _leak("siblings", 40)
    (files,) = count.change.series
    older = {"metric": "compile_time", "kind": "noisy", "newest": at_of(subject(50))}
    for now, said in ((None, []), (2.0, [Statement("series ended", (1, 2, "n50"))])):
        time = files.model_copy(update=older | {"now": now})
        both = count.change.model_copy(update={"series": [files, time]})
        found = [replace(count, change=both)]
        (told,) = update_alerts(found, _recorded(found), moment(60))
        assert told.notes == said


def test_an_acknowledgement_of_what_is_gone_from_the_results_still_counts() -> None:
    first = nightly(60, slow(60))
    other = series(line(90), stepped(90), cell=("radon", "warm_disk", "C", "spawn"))
    triage = said(only(first).id, at=60, until=200)
    assert only(nightly(90, other, previous=first, triage=triage)).state == "acknowledged"


def test_what_more_nights_do_not_confirm_is_withdrawn_with_a_sentence() -> None:
    first = nightly(60, slow(60))
    calm = nightly(90, series(line(90), stepped(90)), previous=first)
    assert only(calm).state == "resolved"
    assert "withdrawn" in (only(calm).resolution or "")
    assert not any(one.holds for one in only(calm).series)
    assert only(nightly(91, series(line(91), stepped(91)), previous=calm)).state == "resolved"


def test_a_step_for_the_better_is_told_and_is_no_alert() -> None:
    found = nightly(80, series(line(80), stepped(80, 40, factor=0.7)))
    assert found.alerts == []
    (better,) = found.improvements
    assert better.kind == "faster to build"
    assert "is faster to build: −30 % (249 → 175 ms; 95 % interval −31 to −29 %)" in better.sentence


def test_a_run_that_is_late_is_an_alert_until_the_next_one() -> None:
    calm = series(line(60), stepped(60))
    late = moment(60)
    late = type(late)(late.now + timedelta(days=3), late.stale_after, late.triage, None)
    stale = detected(watched(60, calm), late)
    assert only(stale).kind == "stale"
    assert only(stale).state == "new"
    again = nightly(64, series(line(64), stepped(64)), previous=stale)
    assert only(again).state == "resolved"
    assert only(again).resolution == "measured again"


@pytest.mark.parametrize(("nights", "kinds"), [(2, []), (3, ["stale"])])
def test_a_machine_that_has_measured_twice_has_no_habit_and_is_never_late(
    nights: int, kinds: list[str]
) -> None:
    context = moment(nights)
    late = replace(context, now=context.now + timedelta(days=3))
    found = detected(watched(nights, series(line(nights), stepped(nights))), late)
    assert [alert.kind for alert in found.alerts] == kinds


def test_what_alarms_as_a_crash_is_no_failed_run_as_well() -> None:
    crash = _leak("siblings", 40)
    crash = replace(crash, change=crash.change.model_copy(update={"kind": "crashed"}))
    cell, other = (f"radon {scenario} NUMBA spawn" for scenario in ("siblings", "call"))
    for cells, kinds in (([cell], {"crashed"}), ([cell, other], {"crashed", "failed run"})):
        found = _updated([crash], None, failures={"SIGSEGV": cells})
        assert {alert.kind for alert in found.alerts} == kinds


def test_what_cannot_be_read_resolves_nothing() -> None:
    """Results of another machine are there; those of the alerts' own are gone, or broken."""
    calm = series(line(60), stepped(60))
    late = moment(60)
    late = type(late)(late.now + timedelta(days=3), late.stale_after, late.triage, None)
    stale = detected(watched(60, calm), late)
    failed = nightly(60, calm, failures={"1 of 1 samples failed": ["radon cold C spawn"]})
    step = nightly(60, slow(60))
    for before in (stale, failed):
        gone = replace(watched(60, calm), runs=())
        alert = only(detected(gone, moment(60, before)))
        assert alert.state != "resolved"
        assert alert.notes == [
            f"no run of {alert.about} is in the results: whether this is over is unknown"
        ]
    whole = watched(90, series(line(90), stepped(90)))
    for before, over in (
        (stale, "measured again"),
        (failed, "no longer fails"),
        (step, "withdrawn"),
    ):
        assert over in (only(detected(whole, moment(90, before))).resolution or "")
        broken = replace(whole, unread=frozenset({"bench"}))
        alert = only(detected(broken, moment(90, before)))
        assert (alert.id, alert.state) == (only(before).id, "open")
        assert alert.notes == [
            "files of its machine cannot be read, so whether it still holds is unknown"
        ]


def test_a_run_that_failed_is_an_alert_and_no_good_run() -> None:
    calm = series(line(60), stepped(60))
    failed = nightly(60, calm, failures={"1 of 1 samples failed": ["radon cold C spawn"]})
    assert only(failed).kind == "failed run"
    assert "radon cold C spawn" in only(failed).sentence
    assert failed.last_good is None
    fine = nightly(61, series(line(61), stepped(61)), previous=failed)
    assert only(fine).state == "resolved"
    assert fine.last_good == night(60)


def test_a_failure_that_lasts_stays_one_alert_and_one_that_returns_is_new() -> None:
    def on(nights: int, previous: Alerts | None, *how: str, triage: Triage | None = None) -> Alerts:
        calm = series(line(nights), stepped(nights))
        failures = {one: ["radon cold C spawn"] for one in how}
        return nightly(nights, calm, previous=previous, failures=failures, triage=triage)

    first = on(60, None, "SIGSEGV")
    second = on(61, first, "SIGSEGV")
    assert (only(second).id, only(second).state) == (only(first).id, "open")
    triage = said(only(first).id, at=61, until=90)
    known, other = on(62, second, "SIGSEGV", "no such file", triage=triage).alerts[::-1]
    assert (known.id, known.state) == (only(first).id, "acknowledged")
    assert (other.state, "no such file" in other.sentence) == ("new", True)
    back, over = on(64, on(63, second, triage=triage), "SIGSEGV", triage=triage).alerts
    assert (back.state, over.state) == ("new", "resolved")
    assert back.id != over.id


def test_short_series_are_said_to_be_short() -> None:
    found = nightly(8, series(line(8), stepped(8, 4)))
    assert found.alerts == []
    assert found.judged == 0
    (short,) = found.unjudged
    assert short.count == 1
    assert "fewer than 10" in short.reason


def test_another_processor_is_no_step() -> None:
    old, new = line(40), line(90)
    other = type(new)(new.machine, new.env_name, new.era._replace(cpu="Other"), new.subjects[40:])
    values = stepped(90, 40)
    found = nightly(90, series(old, values[:40]), series(other, values[40:]))
    assert found.alerts == []
    (told,) = found.environments
    assert "Some CPU" in told
    assert "Other" in told


def test_nights_without_a_value_widen_the_range() -> None:
    values = stepped(80, 40)
    values[36:44] = np.nan
    alert = only(nightly(80, series(line(80), values)))
    assert alert.last_good is not None
    assert (alert.last_good.label, alert.first_bad.label) == ("n35", "n44")
    assert alert.between == 8


def test_a_drift_is_reported_apart_from_steps() -> None:
    values = stepped(120) * np.geomspace(1, 1.3, 120)
    alert = only(nightly(120, series(line(120), values)))
    assert alert.kind == "slow drift: slower to build"
    assert "little by little" in alert.sentence


@pytest.mark.parametrize("nights", [0, 1, 9])
def test_almost_nothing_measured_is_no_error(nights: int) -> None:
    found = nightly(max(nights, 1), *([series(line(nights), stepped(nights))] if nights else []))
    assert found.alerts == []


def test_the_commit_of_a_night_is_where_the_alert_begins() -> None:
    alert = only(nightly(80, slow(80)))
    assert alert.first_bad.commit in {subject(n).commit for n in range(38, 43)}


def test_where_both_modes_moved_the_jump_of_the_median_is_not_told() -> None:
    """Two kinds of hosts, one twice as slow as the other, and 10 % on both."""
    rng = np.random.default_rng(4)
    values = rng.choice([1.0, 2.0], 100) * np.exp(0.003 * rng.standard_normal(100))
    values[50:] *= 1.1
    found = nightly(100, series(line(100), values))
    (told,) = only(found).series
    assert told.before == pytest.approx(float(np.median(values[:50])), rel=0.02)
    assert told.ratio == pytest.approx(1.1, rel=0.02)
    assert "two modes, 1.00 → 1.10 s and 2.00 → 2.20 s" in only(found).sentence
    assert "interval" not in only(found).sentence
    values[75:] *= 1.1
    higher = nightly(100, series(line(100), values))
    assert {alert.state for alert in higher.alerts} == {"open"}


def test_a_step_beside_a_drift_is_that_of_the_values_without_the_drift() -> None:
    values = stepped(160, seed=9) * np.geomspace(1, 1.4, 160)
    values[80:] /= 1.25
    found = nightly(160, series(line(160), values))
    assert [alert.kind for alert in found.alerts] == ["slow drift: slower to build"]
    assert only(found).last_good is None
    (better,) = found.improvements
    assert better.kind == "faster to build"
    (step,) = better.series
    assert step.before / step.after == pytest.approx(1.25, rel=0.05)


def test_less_memory_is_less_of_what_there_was() -> None:
    values = stepped(80, 40, factor=0.6) * 1e9
    found = nightly(80, series(line(80), values, metric="peak_rss"))
    assert "takes less memory: −40 % (249 → 150 MB" in found.improvements[0].sentence


def test_hosts_that_take_turns_keep_the_id_of_a_step_that_is_placed_anew() -> None:
    """Three kinds of hosts: each line has every third night."""
    on = line(240)

    def host(number: int, nights: int, place: int) -> Series:
        era = on.era._replace(cpu=f"CPU{number}")
        own = type(on)(on.machine, on.env_name, era, on.subjects[number:nights:3])
        return series(own, stepped(len(own.subjects), place))

    first = nightly(150, host(0, 150, 30), series(line(150), stepped(150)))
    again = nightly(180, host(0, 180, 32), series(line(180), stepped(180)), previous=first)
    assert only(again).id == only(first).id


def test_two_alerts_that_turn_out_to_be_one_say_so() -> None:
    on, other = line(60), ("radon", "warm_disk", "C", "spawn")
    far = [series(on, stepped(60, 40)), series(on, stepped(60, 45, seed=5), cell=other)]
    two = nightly(60, *far)
    assert len(two.alerts) == 2
    near = [
        series(line(80), stepped(80, 40)),
        series(line(80), stepped(80, 41, seed=5), cell=other),
    ]
    one = nightly(80, *near, previous=two)
    kept, gone = one.alerts
    assert (kept.state, gone.state) == ("open", "resolved")
    assert gone.resolution == f"it is now part of alert {kept.id}"


@pytest.mark.parametrize(
    "values", [[1e-200] * 30 + [1e200] * 30, [0.0] * 60, [-1.0] * 30 + [1.0] * 30]
)
def test_odd_values_are_named_and_stop_nothing(values: list[float]) -> None:
    long = ("", "x" * 5000, "", "")
    found = nightly(60, series(line(60), values, cell=long), slow(60))
    assert only(found).kind == "slower to build"
    (odd,) = found.unjudged
    assert "ratio" in odd.reason


def test_an_acknowledgement_of_nothing_is_named() -> None:
    found = nightly(60, slow(60), triage=said("f" * 10, at=1, until=2))
    assert found.orphans == ["f" * 10]
