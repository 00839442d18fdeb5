"""The weekly digest: sentences for a maintainer, and the bars of its picture."""

from __future__ import annotations

from datetime import timedelta

from observatory.store.records.alerts import Alerts, Change, SeriesChange, SmallerChange, at_of
from observatory.text.digest import digest_of, digest_text
from tests.factories_alerts import detected, line, moment, series, stepped, subject, watched

BEFORE, FIRST = at_of(subject(39)), at_of(subject(40))


def change(kind: str, metric: str, before: float, after: float, *benchmarks: str) -> Change:
    made = [
        SeriesChange(
            machine="bench", env_name="py", benchmark=one, metric=metric, unit="functions",
            kind="exact", before=before, after=after, last_good=BEFORE, first_bad=FIRST,
            newest=FIRST, holds=True,
        ) for one in benchmarks
    ]  # fmt: skip
    return Change(id="0" * 10, kind=kind, sentence=f"{metric} changed", last_good=BEFORE,
                  first_bad=FIRST, between=0, series=made)  # fmt: skip


def record(**found: list[Change]) -> Alerts:
    return Alerts(observatory="0", newest=FIRST.date, last_good=None, judged=1, alerts=[], **found)


def text_of(alerts: Alerts, span: timedelta = timedelta(days=7)) -> str:
    return digest_text(digest_of(alerts, span), "What changed")


def test_a_slower_build_is_one_sentence_with_model_and_backend() -> None:
    given = watched(45, series(line(45), stepped(45, 40, 1.3)))
    digest = digest_of(detected(given, moment(45)), timedelta(days=7))
    text = digest_text(digest, "What changed", "week.png")
    assert "1 change for the worse" in text
    assert "slower to build, +3" in text
    assert "`radon` with `NUMBA`" in text
    assert "spawn" not in text
    assert "![The changes by size](week.png)" in text
    ((label, ratio),) = digest.bars
    assert "radon with NUMBA" in label
    assert 1.25 < ratio < 1.35


def test_a_count_that_fell_is_said_by_what_is_counted() -> None:
    cells = "radon warm_disk NUMBA fork", "radon warm_disk C fork"
    better = change("fewer cache_misses", "cache_misses", 105, 0, *cells)
    text = text_of(record(improvements=[better]))
    assert "more functions hit the cache (`cache_misses` 105 → 0" in text
    assert "105 → 0" in text
    assert "`radon` with `C` and `NUMBA`" in text


def test_values_that_are_right_again_have_a_section_of_their_own() -> None:
    for metric in ("wrong_results", "key_collisions", "crashed"):
        right = change(f"fewer {metric}", metric, 2, 1, "ops census_warm NUMBA spawn")
        assert "#### Right again" in text_of(record(improvements=[right]))
    other = change("fewer uncacheable", "uncacheable", 4, 3, "radon cold NUMBA fork")
    assert "#### Right again" not in text_of(record(improvements=[other]))


def test_small_changes_are_listed_and_older_ones_are_not() -> None:
    small = SmallerChange(
        **change("slower", "time", 1.0, 1.02, "suite.Bench.time_it").model_dump(),
        worse=True, impact=0.02, reason="small",
    )  # fmt: skip
    assert "suite.Bench.time_it" not in text_of(record(smaller=[small]))
    assert "Small changes for the worse" in text_of(record(smaller=[small]))
    newer = change("fewer uncacheable", "uncacheable", 2, 1, "radon cold NUMBA fork")
    moved = newer.series[0].model_copy(update={"newest": at_of(subject(60))})
    later = newer.model_copy(update={"series": [moved], "first_bad": at_of(subject(58))})
    assert "Small changes" not in text_of(record(smaller=[small], improvements=[later]))


def test_a_week_ends_with_the_newest_subject_even_if_the_series_that_changed_ended() -> None:
    better = change("fewer uncacheable", "uncacheable", 2, 1, "radon cold NUMBA fork")
    ended = record(improvements=[better])
    assert "1 change for the better" in text_of(ended)
    later = ended.model_copy(update={"until": FIRST.date + timedelta(days=90)})
    assert "nothing changed." in text_of(later)
    given = watched(45, series(line(45), stepped(45)))
    assert detected(given, moment(45)).until == subject(44).date


def test_nothing_is_said_to_be_nothing() -> None:
    assert "nothing changed." in text_of(record())
    assert "nothing was judged." in text_of(record().model_copy(update={"judged": 0}))


def test_an_alert_that_was_withdrawn_is_no_change() -> None:
    first = detected(watched(45, series(line(45), stepped(45, 40, 1.3))), moment(45))
    assert "1 change for the worse" in text_of(first)
    calm = detected(watched(46, series(line(46), stepped(46))), moment(46, first))
    assert [one.state for one in calm.alerts] == ["resolved"]
    assert "nothing changed." in text_of(calm)


def test_an_alert_that_is_over_says_since_when() -> None:
    first = detected(watched(45, series(line(45), stepped(45, 40, 1.3))), moment(45))
    (alert,) = first.alerts
    over = alert.model_copy(update={"state": "resolved", "resolved_by": at_of(subject(44))})
    text = text_of(first.model_copy(update={"alerts": [over]}))
    assert "slower to build, +3" in text
    assert " Over since **`n44`**." in text
    assert "Over since" not in text_of(first)


def test_a_run_that_failed_is_told_although_nothing_was_measured() -> None:
    died = {"the measured process died of SIGSEGV": ["radon warm_disk NUMBA spawn"]}
    values = stepped(45, 40, 1.3)
    values[44] = float("nan")  # the newest subject has no value
    text = text_of(detected(watched(45, series(line(45), values), failures=died), moment(45)))
    assert "1 change for the worse and 1 alert about runs, faults or settings" in text
    assert "#### Runs, faults and other settings" in text
    assert "died of SIGSEGV" in text


def test_text_of_results_is_no_markup() -> None:
    evil = change("slower", "time", 1.0, 1.5, "suite").model_copy(update={"sentence": "@user <b>"})
    assert "`@user <b>`" in text_of(record(improvements=[evil]))
