"""Counts of work of two sources are two series, in one line and under one key."""

from pathlib import Path

from observatory.analyze.history.newest import Verdicts
from observatory.analyze.history.segments import segmented
from observatory.analyze.history.series import series_of
from observatory.app.fingerprints import fingerprint
from observatory.app.observed import site_data
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import read_results
from observatory.store.records.alerts import Alerts
from observatory.store.records.triage import Triage
from tests.factories import sample
from tests.factories_work import CALLGRIND, HARDWARE, SPAWNED, history, recorded, work

TRACED = "sys.monitoring, without something"
NO_ALERTS = Alerts(observatory="0", newest=None, last_good=None, judged=0, compared=0, alerts=[])
TWO = (2.0e9, CALLGRIND), (2.001e9, CALLGRIND), (2.2e9, HARDWARE), (2.0e9, CALLGRIND)


def test_where_the_source_changes_another_series_begins_and_no_value_is_lost(
    tmp_path: Path,
) -> None:
    every = series_of(read_results(history(tmp_path, *TWO)))
    found = {one.source: one for one in every if one.place.metric == "instructions"}
    assert found[CALLGRIND].values.tolist() == [2.0e9, 2.001e9, 2.0e9]
    assert [found[CALLGRIND].subject(index).label for index in range(3)] == [
        "3.3.0", "3.3.1", "3.3.3",
    ]  # fmt: skip
    assert found[HARDWARE].values.tolist() == [2.2e9]
    assert (
        len({one.key for one in found.values()}) == len({one.line for one in found.values()}) == 1
    )
    (times,) = (one for one in every if one.place.metric == "compile_time")
    assert (len(times.values), times.source) == (4, "")


def test_calls_that_leave_out_more_are_another_series_than_earlier_ones_and_work(
    tmp_path: Path,
) -> None:
    """Each metric of a cell has a source of its own."""
    for number, source in enumerate((None, None, TRACED)):
        calls = {"python_calls": 600_000 if source is None else 480_000}
        traced = sample(SPAWNED, "tracing", calls, counted_by=source)
        recorded(tmp_path, number, [traced, work(2.0e9)])
    found = {
        (one.place.metric, one.source): one.values.tolist()
        for one in series_of(read_results(tmp_path))
    }
    assert found["python_calls", ""] == [600_000, 600_000]
    assert found["python_calls", TRACED] == [480_000]
    assert found["instructions", CALLGRIND] == [2.0e9] * 3


def test_a_count_is_never_judged_against_one_of_another_source(tmp_path: Path) -> None:
    def last(*counts: tuple[float, str]) -> list[str]:
        every = series_of(read_results(history(tmp_path / str(counts), *counts)))
        of_work = (one for one in every if one.place.metric == "instructions")
        return [Verdicts(NO_ALERTS).on(one).last for one in segmented(of_work)]

    assert last((2.0e9, CALLGRIND), (2.2e9, CALLGRIND)) == ["worse"]
    assert last((2.0e9, CALLGRIND), (2.2e9, HARDWARE)) == ["undecided", "undecided"]


def test_what_counted_is_known_of_results_that_are_read_from_the_cache(tmp_path: Path) -> None:
    results = history(tmp_path / "results", *TWO)
    cache = tmp_path / "cache"
    assert directory_for(results) != cache
    first, second = (read_results(results, cache) for _ in range(2))
    assert [file.counted_by for file in first.files] == [file.counted_by for file in second.files]
    assert any(HARDWARE in file.counted_by.values() for file in second.files)


def test_another_source_makes_other_alerts_out_of_date(tmp_path: Path) -> None:
    made = [
        fingerprint(read_results(history(tmp_path / source[:4], (2.0e9, source))), Triage())
        for source in (CALLGRIND, HARDWARE)
    ]
    assert made[0] != made[1]


def test_the_page_of_each_source_has_an_id_of_its_own_and_others_keep_theirs(
    tmp_path: Path,
) -> None:
    ids = []
    for source in (CALLGRIND, HARDWARE):
        observed, problems = site_data([history(tmp_path / source[:4], (2.0e9, source))])
        assert problems == []
        ids.append({
            track.series.place.metric: id_
            for track, id_ in zip(observed.tracks, observed.ids, strict=True)
        })  # fmt: skip
    assert ids[0]["instructions"] != ids[1]["instructions"]
    assert ids[0]["compile_time"] == ids[1]["compile_time"] == "e040cf1d9255"
