from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from observatory.analyze.frame import frame
from observatory.analyze.series_keys import SelectionError
from observatory.benchmarks.catalogue import Cell
from observatory.store.asv.files import project
from observatory.store.journal.latest import Note, latest
from observatory.store.reading.read import read_results
from observatory.text.tables import Notes, Table, comparison_tables, subject_tables
from tests.factories import WARM, failed, header, journal, sample

CALL = Cell("radon", "call", "C", "spawn")
COLD = Cell("radon", "cold", "C", "fork")
OLD = Cell("radon", "warm_disk", "C", "fork")
HERE = "bench", "3.13"


@pytest.fixture
def measured(tmp_path: Path) -> tuple[pd.DataFrame, Notes]:
    notes: list[Note] = []
    for label, month in (("3.3.7", 8), ("3.3.6", 7)):
        under = header(label, date=datetime(2026, month, 1, tzinfo=UTC))
        wrong = 3 if label == "3.3.6" else 0
        samples = [
            *(sample(metrics={"compile_time": t, "wrong_results": wrong}) for t in (0.2, 0.3)),
            sample(measure="counting", metrics={"cache_misses": 0}),
            sample(OLD, "counting", absent={"cache_misses": "no hook"}),
            sample(OLD, metrics={"compile_time": 1.0}, absent={"peak_rss": "no /proc"}),
            sample(CALL, metrics={"call_time": 5e-6}),
            failed(COLD),
        ]
        contents = journal(tmp_path, samples, under=under).read()
        project(tmp_path, contents)
        notes += latest(contents.current()).notes
    return frame(read_results(tmp_path)), {HERE: notes}


def test_one_subject_is_a_row_a_scenario_and_backend_and_columns_by_launch(
    measured: tuple[pd.DataFrame, Notes],
) -> None:
    (table,) = subject_tables(measured[0], "3.3.7", measured[1])
    assert table == Table(
        title="3.3.7: radon, pytensor 3.3.7, numba 0.68.0, Python 3.13, on bench",
        header=("scenario", "backend", "fork: time", "misses", "wrong", "spawn: time", "misses",
                "wrong"),
        rows=(
            ("cold", "C", "CRASHED", "-", "-", "-", "-", "-"),
            ("warm_disk", "C", "1.00 s", "-", "0", "-", "-", "-"),
            ("warm_disk", "NUMBA", "250 ms", "0", "0", "-", "-", "-"),
            ("call", "C", "-", "-", "-", "5.00 µs", "-", "0"),
        ),
        footnotes=(
            "CRASHED: cold C fork: 1 samples",
            "cold C fork: 1 of 1 timing samples failed: the measured process died of SIGSEGV",
            "warm_disk C fork: no cache_misses: no hook",
                "each time is the median of 1 to 2 samples (processes)",
        ),
    )  # fmt: skip


def test_three_launches_are_rows_and_sampling_tells_the_time_of_its_first_draw(
    tmp_path: Path,
) -> None:
    samples = [
        sample(Cell("radon_pymc", scenario, "NUMBA", launch), metrics={"first_draw_time": taken})
        for scenario, taken in (("sampling_cold", 11.6), ("sampling_warm", 1.6))
        for launch in ("fork", "spawn", "forkserver")
    ]
    project(tmp_path, journal(tmp_path, samples).read())
    (table,) = subject_tables(frame(read_results(tmp_path)), "3.3.7")
    assert table.header == ("scenario", "backend", "launch", "time", "misses", "wrong")
    assert table.rows[0] == ("sampling_cold", "NUMBA", "fork", "11.6 s", "-", "0")
    assert [row[:4:3] for row in table.rows[3:]] == [("sampling_warm", "1.60 s")] * 3


def test_times_that_are_left_out_are_told_without_the_name_of_a_metric(
    measured: tuple[pd.DataFrame, Notes],
) -> None:
    note = Note("3.3.7", WARM, "absent", "its times are left out", measure="timing")
    (table,) = subject_tables(measured[0], "3.3.7", {HERE: [note]})
    assert "warm_disk NUMBA fork: its times are left out" in table.footnotes


def test_wrong_results_come_before_everything(
    measured: tuple[pd.DataFrame, Notes],
) -> None:
    (table,) = subject_tables(measured[0], "3.3.6", measured[1])
    assert table.rows[2][4] == "3 WRONG"
    assert table.footnotes[0] == "WRONG RESULTS: warm_disk NUMBA fork: 3 values"
    assert table.footnotes[1].startswith("CRASHED")


def test_several_subjects_are_a_column_each_in_the_order_asked_for(
    measured: tuple[pd.DataFrame, Notes],
) -> None:
    (table,) = comparison_tables(measured[0], ["3.3.6", "3.3.7"], ["compile_time", "cache_misses"])
    assert table.header == ("scenario", "backend", "launch", "metric", "3.3.6", "3.3.7")
    assert table.rows == (
        ("warm_disk", "C", "fork", "compile_time", "1.00 s", "1.00 s"),
        ("warm_disk", "NUMBA", "fork", "cache_misses", "0", "0"),
        ("warm_disk", "NUMBA", "fork", "compile_time", "250 ms", "250 ms"),
    )
    assert table.footnotes[0] == "WRONG RESULTS: 3.3.6 warm_disk NUMBA fork: 3 values"


def test_every_row_is_as_long_as_the_header(measured: tuple[pd.DataFrame, Notes]) -> None:
    tables = subject_tables(measured[0], "3.3.7") + comparison_tables(
        measured[0], ["3.3.7", "3.3.6"]
    )
    assert {len(row) - len(table.header) for table in tables for row in table.rows} == {0}


def test_machines_and_models_are_never_mixed(measured: tuple[pd.DataFrame, Notes]) -> None:
    tidy, _ = measured
    both = pd.concat([tidy, tidy.assign(machine="other")], ignore_index=True)
    titles = [table.title for table in subject_tables(both, "3.3.7")]
    assert [title.rpartition(" ")[2] for title in titles] == ["bench", "other"]


def test_what_failed_on_one_machine_or_python_is_not_said_of_another(
    measured: tuple[pd.DataFrame, Notes],
) -> None:
    tidy, _ = measured
    well = tidy[tidy["metric"] == "compile_time"]
    every = pd.concat([well, well.assign(machine="other"), well.assign(python="3.12")])
    notes = {HERE: [Note("3.3.7", WARM, "failed", "it died")]}
    for tables in (subject_tables(every, "3.3.7", notes),
                   comparison_tables(every, ["3.3.6", "3.3.7"], notes=notes)):  # fmt: skip
        said = [any("it died" in text for text in table.footnotes) for table in tables]
        assert (len(said), sum(said)) == (3, 1)


def test_a_commit_is_named_by_any_beginning_of_its_hash(
    measured: tuple[pd.DataFrame, Notes],
) -> None:
    commit = "ab12cd34ef56"
    tidy = measured[0].replace({"subject": {"3.3.6": commit}})
    for name in ("ab12", "AB12CD34", commit, commit + "0" * 28):
        (table,) = subject_tables(tidy, name)
        assert table.title.startswith(f"{commit}: ")
        (table,) = comparison_tables(tidy, [name, "3.3.7"])
        assert table.header[-2:] == (commit, "3.3.7")
    for name in ("ab1", "ab13", "3.3"):
        with pytest.raises(SelectionError, match=f"there is no subject '{name}'"):
            subject_tables(tidy, name)


def test_a_subject_without_results_is_an_error(
    measured: tuple[pd.DataFrame, Notes],
) -> None:
    with pytest.raises(SelectionError, match=r"there is no subject '9\.9'"):
        subject_tables(measured[0], "9.9")
    with pytest.raises(SelectionError, match=r"'9\.9'; choose from 3\.3\.7, 3\.3\.6"):
        comparison_tables(measured[0], ["3.3.7", "9.9"])
    with pytest.raises(SelectionError, match="import_time"):
        comparison_tables(measured[0], ["3.3.7"], ["import_time"])


def test_the_cell_of_the_counts_is_measured() -> None:
    assert WARM.problem() is CALL.problem() is COLD.problem() is OLD.problem() is None
