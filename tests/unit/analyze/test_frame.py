from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from observatory.analyze.frame import COLUMNS, frame, select
from observatory.analyze.series_keys import SelectionError
from observatory.benchmarks.catalogue import Cell
from observatory.store.asv.files import project
from observatory.store.reading.read import Results, read_results
from tests.factories import WARM, failed, header, journal, sample
from tests.factories_asv import foreign, put

SPAWN = Cell("radon", "warm_disk", "C", "spawn")
CALL = Cell("radon", "call", "NUMBA", "fork")


def of(results: Path) -> pd.DataFrame:
    return frame(read_results(results))


def rows(tidy: pd.DataFrame, **where: str) -> list[dict[str, Any]]:
    for column, word in where.items():
        tidy = tidy[tidy[column] == word]
    return [{str(key): value for key, value in row.items()} for row in tidy.to_dict("records")]


@pytest.fixture
def two(tmp_path: Path) -> pd.DataFrame:
    for label, month, misses in (("3.3.7", 8, 0), ("2.35.1", 2, 103)):
        under = header(label, date=datetime(2026, month, 1, tzinfo=UTC))
        samples = [
            *(sample(metrics={"compile_time": t / 10}) for t in range(1, 6)),
            sample(measure="counting", metrics={"cache_misses": misses}),
            *(sample(SPAWN, metrics={"compile_time": 0.5}) for _ in range(4)),
            sample(CALL, metrics={"call_time": 5e-6}),
        ]
        project(tmp_path, journal(tmp_path, samples, under=under).read())
    return of(tmp_path)


def test_the_columns_and_their_types_are_fixed(two: pd.DataFrame) -> None:
    assert list(two.columns) == [
        "subject",
        "pytensor",
        "numba",
        "python",
        "machine",
        "model",
        "scenario",
        "backend",
        "launch",
        "metric",
        "unit",
        "kind",
        "value",
        "n",
        "ci_low",
        "ci_high",
        "date",
    ]
    assert all(two[name].dtype == "string" for name in COLUMNS[:12])
    assert [str(two[name].dtype) for name in ("value", "n", "ci_low")] == [
        "float64", "Int64", "float64",
    ]  # fmt: skip
    assert str(two["date"].dtype) == "datetime64[ms, UTC]"
    empty = frame(Results())
    assert empty.dtypes.equals(two.dtypes)
    assert len(empty) == 0


def test_a_row_says_all_about_a_cell_and_metric(two: pd.DataFrame) -> None:
    (row,) = rows(two, subject="3.3.7", metric="compile_time", backend="NUMBA")
    low, high = row.pop("ci_low"), row.pop("ci_high")
    assert row == {
        "subject": "3.3.7", "pytensor": "3.3.7", "numba": "0.68.0", "python": "3.13",
        "machine": "bench", "model": "radon", "scenario": "warm_disk", "backend": "NUMBA",
        "launch": "fork", "metric": "compile_time", "unit": "seconds", "kind": "noisy",
        "value": 0.3, "n": 5, "date": pd.Timestamp("2026-08-01", tz="UTC"),
    }  # fmt: skip
    assert low <= 0.1
    assert high >= 0.5


def test_few_samples_and_counts_have_no_interval(two: pd.DataFrame) -> None:
    few = rows(two, backend="C", metric="compile_time") + rows(two, metric="cache_misses")
    assert len(few) == 4
    assert all(math.isnan(row["ci_low"]) and math.isnan(row["ci_high"]) for row in few)


def test_rows_are_ordered_by_date_and_then_as_the_vocabulary_is(two: pd.DataFrame) -> None:
    assert list(dict.fromkeys(two["subject"])) == ["2.35.1", "3.3.7"]
    newest = two[two["subject"] == "3.3.7"]
    places = list(zip(newest["scenario"], newest["backend"], strict=True))
    assert (
        places == [("warm_disk", "C")] * 3 + [("warm_disk", "NUMBA")] * 4 + [("call", "NUMBA")] * 3
    )
    numba = newest[(newest["backend"] == "NUMBA") & (newest["scenario"] == "warm_disk")]
    assert list(numba["metric"]) == ["wrong_results", "crashed", "cache_misses", "compile_time"]


def test_what_was_not_measured_is_no_row(tmp_path: Path) -> None:
    project(tmp_path, journal(tmp_path, [failed()]).read())
    (row,) = rows(of(tmp_path))
    assert (row["metric"], row["value"]) == ("crashed", 1.0)


def _foreign(name: str, params: list[list[str]], *values: float | None) -> dict[str, Any]:
    return foreign({name: [values, params]}, commit_hash="c0ffee11" + "0" * 32)


def test_results_of_other_projects_are_named_by_benchmark_and_parameters(tmp_path: Path) -> None:
    put(tmp_path, _foreign("suite.time_it", [["1", "'a'"]], 2.0, None))
    described = {"suite.time_it": {"unit": "seconds", "type": "time"}}
    (tmp_path / "benchmarks.json").write_text(json.dumps(described))
    (row,) = rows(of(tmp_path))
    assert [row[name] for name in COLUMNS[:12]] == [
        "c0ffee11", "", "", "3.12", "ci", "", "suite.time_it(1)", "", "", "time",
        "seconds", "noisy",
    ]  # fmt: skip
    assert (row["value"], row["n"]) == (2.0, 1)


def test_a_foreign_benchmark_without_parameters_or_description_keeps_its_name(
    tmp_path: Path,
) -> None:
    put(tmp_path, _foreign("suite.track_it", [], 2.0))
    (row,) = rows(of(tmp_path))
    assert (row["scenario"], row["metric"], row["unit"]) == ("suite.track_it", "value", "")


@pytest.mark.parametrize(
    ("name", "unit"),
    [("suite.time_it", "seconds"), ("A.timeraw_it", "seconds"), ("a.B.peakmem_it", "bytes"),
     ("a.mem_it", "bytes"), ("time_suite.track_it", "")],
)  # fmt: skip
def test_a_lost_description_does_not_lose_the_unit(name: str, unit: str, tmp_path: Path) -> None:
    put(tmp_path, _foreign(name, [], 2.0))
    (row,) = rows(of(tmp_path))
    assert (row["metric"], row["unit"]) == ("value", unit)


def test_our_suites_run_by_plain_asv_are_cells_without_a_journal(tmp_path: Path) -> None:
    params = [["'radon'"], ["'C'"], ["'fork'"]]
    put(tmp_path, _foreign("compile.Cold.track_compile_time", params, 2.0))
    (row,) = rows(of(tmp_path))
    assert (row["model"], row["scenario"], row["backend"], row["launch"], row["metric"]) == (
        "radon", "cold", "C", "fork", "compile_time",
    )  # fmt: skip


def test_environments_of_one_commit_on_one_machine_are_told_apart(tmp_path: Path) -> None:
    for number, (python, env_name) in enumerate((("3.6", "np1.1"), ("3.6", "np1.2"), ("3.7", "x"))):
        content = foreign({"a": [[number]]}, python=python, env_name=env_name)
        put(tmp_path, content, f"{number}.json")
    put(tmp_path, foreign({"a": [[3]]}, commit_hash="beef" * 10, env_name="np1.1"), "3.json")
    found = of(tmp_path).sort_values("value")
    assert list(found["subject"]) == ["c0ffee00 np1.1", "c0ffee00 np1.2", "c0ffee00", "beefbeef"]


def test_rows_of_many_files_are_ordered_and_each_value_stays_with_its_names(tmp_path: Path) -> None:
    expected = []
    for number in range(40):
        machine, day = f"m{number % 3}", 86_400_000 * (number * 7 % 5)
        values = {f"b{name}": [[number + name / 10]] for name in range(number % 4)}
        content = foreign(
            values, commit_hash=f"{number:08}" + "0" * 32, date=day,
            params={"machine": machine}, python=f"3.{number % 2}",
        )  # fmt: skip
        put(tmp_path, content, f"{number}.json")
        expected += [
            (day, name, f"{number:08}", f"3.{number % 2}", machine, value[0][0])
            for name, value in values.items()
        ]
    found = of(tmp_path)
    days = found["date"].astype("int64")
    columns = [found[name] for name in ("scenario", "subject", "python", "machine", "value")]
    assert list(zip(days, *columns, strict=True)) == sorted(expected)


def test_an_exact_count_has_no_interval_however_often_it_was_counted(tmp_path: Path) -> None:
    counted = [sample(measure="counting", metrics={"cache_misses": n}) for n in (1, 1, 2, 1, 1, 1)]
    project(tmp_path, journal(tmp_path, counted).read())
    (row,) = rows(of(tmp_path), metric="cache_misses")
    assert row["n"] == 6
    assert math.isnan(row["ci_low"])


def test_filters_keep_what_matches_all_of_them(two: pd.DataFrame) -> None:
    kept = select(two, subjects=["3.3.7"], metrics=["compile_time", "call_time"])
    assert list(kept["value"]) == [0.5, 0.3, 5e-6]
    assert list(kept.index) == [0, 1, 2]
    kept = select(two, backends=["NUMBA"], scenarios=["warm_disk"], launches=["fork"])
    assert set(kept["backend"]) == {WARM.backend}
    pd.testing.assert_frame_equal(select(two), two)


def test_a_word_that_matches_nothing_is_an_error_that_lists_what_exists(two: pd.DataFrame) -> None:
    with pytest.raises(
        SelectionError, match=r"there is no subject '9\.9'; choose from 2\.35\.1, 3"
    ):
        select(two, subjects=["3.3.7", "9.9"])
    with pytest.raises(SelectionError, match="scenario warm_disk and metric call_time at once"):
        select(two, scenarios=["warm_disk"], metrics=["call_time"])
    with pytest.raises(SelectionError, match="there is none to choose from"):
        select(frame(Results()), backends=["C"])
