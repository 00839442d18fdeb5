from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import pytest

from observatory.benchmarks.catalogue import WARM_SCENARIOS, Cell
from observatory.dashboard.pages.summary import Headline, facts, headline, newest
from observatory.text.words import SHOWN_METRICS
from tests import factories_frame as factory

METRICS = frozenset(SHOWN_METRICS)
WARM = Cell("radon", "warm_disk", "NUMBA", "fork")


def said(frame: pd.DataFrame) -> Headline:
    subject = newest(factory.read(frame, METRICS))
    assert subject is not None
    return headline(subject)


def changed(value: float | None, *, release: str = "3.3.7", **where: str) -> pd.DataFrame:
    frame = factory.as_frame(factory.release_rows(release))
    chosen = pd.Series(True, index=frame.index)
    for column, word in where.items():
        chosen &= frame[column] == word
    assert chosen.any()
    frame.loc[chosen, "value"] = value
    return frame


def test_a_healthy_subject_is_said_to_be_one():
    found = said(factory.frame())
    assert found.state == "good"
    assert found.sentences() == (
        "PyTensor 3.3.7: no wrong results; no crashes; no warm build of the model radon misses."
    )


def test_the_facts_say_what_was_measured_with_and_when():
    subject = newest(factory.read(factory.frame(), METRICS))
    assert subject is not None
    found = facts(subject, datetime(2026, 8, 14, 6, 12, tzinfo=UTC))
    told = {fact.word: fact.meaning for fact in found}
    assert told["numba"] == "0.68.0"
    assert told["measured"] == "2026-08-14 06:12 UTC"


def test_a_launch_that_was_not_measured_is_not_said_to_hit():
    frame = factory.as_frame(factory.release_rows("3.3.7"))
    found = said(frame[frame["launch"] == "fork"])
    assert found.sentences().endswith("no warm build of the model radon misses under fork.")


def test_misses_are_counted_once_for_both_launches_and_named():
    found = said(changed(35, scenario="warm_disk", backend="NUMBA", metric="cache_misses"))
    assert found.state == "bad"
    assert found.sentences().startswith("PyTensor 3.3.7: 35 functions miss in warm_disk NUMBA;")


def test_wrong_results_are_said_before_everything_else():
    frame = changed(35, scenario="warm_disk", backend="NUMBA", metric="cache_misses")
    wrong = (frame.metric == "wrong_results") & (frame.scenario == "cold")
    frame.loc[wrong & (frame.backend == "C"), "value"] = 1
    assert said(frame).sentences() == (
        "PyTensor 3.3.7: wrong results in cold C; 35 functions miss in warm_disk NUMBA; no crashes."
    )


def test_an_ablation_that_misses_alarms_nobody():
    found = said(changed(9, backend="NUMBA_OPS_ONLY", metric="cache_misses"))
    assert found.state == "good"


def test_a_function_that_the_cache_refuses_is_no_hit():
    found = said(changed(1, scenario="warm_disk", backend="NUMBA", metric="uncacheable"))
    assert "1 function is refused by the cache in warm_disk NUMBA" in found.sentences()


def test_what_the_cache_of_an_optional_backend_refuses_is_no_claim_of_the_page():
    frame = changed(4, scenario="warm_disk", backend="NUMBA", metric="uncacheable")
    own = frame[(frame.scenario == "warm_disk") & (frame.backend == "NUMBA")]
    healthy = factory.as_frame(factory.release_rows("3.3.7"))
    found = said(pd.concat([healthy, own.assign(backend="PYTORCH")], ignore_index=True))
    assert found.state == "good"
    assert found.sentences().endswith("; no warm build of the model radon misses.")


def test_warm_cells_that_were_not_counted_are_not_said_to_hit():
    found = said(changed(None, scenario="warm_disk", backend="C", metric="cache_misses"))
    assert found.state == "unknown"
    warm = (
        len(set(WARM_SCENARIOS) & set(factory.SCENARIOS))
        * len(("C", "C_VM", "NUMBA"))
        * len(("fork", "spawn"))
    )
    assert f"{warm - 2} warm caches hit, 2 were not counted" in found.sentences()


@pytest.mark.parametrize("metric", ["wrong_results", "crashed"])
def test_cells_that_were_not_checked_are_not_said_to_be_right(metric: str):
    frame = factory.frame()
    newest_one = frame["subject"] == "3.3.7"
    all_cells = len(frame[newest_one & (frame["metric"] == metric)])
    found = said(frame.drop(frame[newest_one & (frame["metric"] == metric)].index[1:]))
    noun = {"wrong_results": "wrong results", "crashed": "crashes"}[metric]
    assert found.state == "unknown"
    assert f"no {noun} in 1 cell, and {all_cells - 1} were not checked" in found.sentences()


def test_nothing_checked_is_not_the_same_as_nothing_wrong():
    frame = factory.as_frame([factory.row(WARM, "compile_time", 0.7, n=3)])
    found = said(frame)
    assert found.state == "unknown"
    assert "results were not checked" in found.sentences()
    assert "no warm cache was counted" in found.sentences()


def test_the_page_speaks_of_the_setting_with_the_longest_history():
    extra = factory.as_frame(factory.release_rows("3.3.7", python="3.13"))
    subject = newest(factory.read(pd.concat([factory.frame(), extra]), METRICS))
    assert subject is not None
    assert subject.setting.python == "3.12"
    assert [other.setting.python for other in subject.others] == ["3.13"]


@pytest.mark.parametrize(
    ("metric", "known"),
    [("wrong_results", "known wrong results in 1 cell"), ("crashed", "known crashes in 1 cell"),
     ("cache_misses", "known misses in 1 cell"), ("uncacheable", "known refusals in 1 cell")],
)  # fmt: skip
def test_what_is_bad_can_be_said_in_short(metric: str, known: str):
    found = said(factory.as_frame([factory.row(WARM, metric, 2)]))
    assert [one.known for one in found.claims if one.state == "bad"] == [known]


def test_an_alarm_in_another_setting_is_not_passed_over():
    extra = factory.as_frame([factory.row(WARM, "wrong_results", 2, python="3.13")])
    found = said(pd.concat([factory.frame(), extra]))
    assert found.state == "bad"
    assert found.sentences() == (
        "PyTensor 3.3.7 with Python 3.13 on bench-2c: wrong results in warm_disk NUMBA. "
        "With Python 3.12 on bench-2c: no wrong results; no crashes; "
        "no warm build of the model radon misses."
    )
    assert found.sentences(short=True).startswith(
        "PyTensor 3.3.7 with Python 3.13 on bench-2c: known wrong results in 1 cell. With"
    )


def test_a_release_is_newer_by_version_where_dates_are_equal():
    rows = [
        factory.row(WARM, "crashed", 0, subject=label, pytensor=label)
        for label in ("3.3.9", "3.3.10", "3.3.2")
    ]
    subject = newest(factory.read(factory.as_frame(rows), METRICS))
    assert subject is not None
    assert subject.subject == "3.3.10"


def test_the_page_speaks_of_the_machine_that_has_just_measured():
    here = factory.as_frame(factory.release_rows("3.3.7", machine="laptop"))
    cell_values = factory.read(pd.concat([factory.frame(), here]), METRICS)
    assert newest(cell_values, "laptop").setting.machine == "laptop"
    assert newest(cell_values).setting.machine == "bench-2c"
    assert newest(cell_values, "unknown").setting.machine == "bench-2c"


def test_no_reading_has_no_newest():
    assert newest(factory.read(factory.as_frame([]), METRICS)) is None
