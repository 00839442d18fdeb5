from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.record import read
from observatory.record.problems import RecordError
from observatory.record.read import read_journals, read_results
from tests.factories import header, journal, sample

COLUMNS = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a",
           "stats_ci_99_b", "stats_q_25", "stats_q_75", "stats_number", "stats_repeat",
           "samples", "profile"]  # fmt: skip


def foreign(rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    fields = {
        "commit_hash": "c0ffee" + "0" * 34,
        "env_name": "virtualenv-py3.12",
        "date": 1_700_000_000_000,
        "params": {"machine": "ci", "python": "3.12"},
        "python": "3.12",
        "requirements": {},
        "env_vars": {},
        "result_columns": COLUMNS,
        "results": rows,
        "durations": {},
        "version": 2,
    }
    return fields | changes


def put(results: Path, content: dict[str, Any] | str, name: str = "c0ffee00-x.json") -> Path:
    path = results / "ci" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_result_file_of_another_project_is_read(tmp_path: Path) -> None:
    row = [[1.5, None], [["1", "2"]], "v", 0, 0.1, [1.0, None], [2.0, None], None, None, None, [9]]
    row[10] = [9, None]
    put(tmp_path, foreign({"suite.time_it": row}))
    results = read_results(tmp_path)
    (file,) = results.files
    (series,) = file.series
    assert (file.machine, file.python, file.header) == ("ci", "3.12", None)
    assert file.date.isoformat() == "2023-11-14T22:13:20+00:00"
    assert series.params == (("1", "2"),)
    assert (series.values, series.n) == ((1.5, None), (9, None))
    assert (series.ci_low, series.ci_high) == ((1.0, None), (2.0, None))
    assert results.problems == ()


def test_nan_and_infinity_are_read_and_are_no_values(tmp_path: Path) -> None:
    row = [[float("nan"), float("inf"), 1.0], [["1", "2", "3"]]]
    put(tmp_path, foreign({"suite.time_it": row}))
    results = read_results(tmp_path)
    assert results.files[0].series[0].values == (None, None, 1.0)
    assert results.problems == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not JSON"),
        ("[1, 2]", "not an asv result file of format 2"),
        ("[" * 100_000, "not JSON"),
        (json.dumps({"version": 1, "results": {}}), "run `asv update`"),
        (json.dumps(foreign({}, commit_hash=3)), "commit_hash"),
        (json.dumps(foreign({}, date=-1)), "date"),
        (json.dumps(foreign({}, date=10**18)), "date"),
        (json.dumps(foreign({}, results=[])), "results"),
    ],
)
def test_a_broken_file_is_named_with_its_reason_and_the_others_are_read(
    tmp_path: Path, content: str, reason: str
) -> None:
    broken = put(tmp_path, content, "broken.json")
    put(tmp_path, foreign({"suite.time_it": [[1.0]]}))
    results = read_results(tmp_path)
    assert len(results.files) == 1
    (problem,) = results.problems
    assert problem.path == broken
    assert reason in problem.reason


@pytest.mark.parametrize(
    "row",
    [3, [[1.0, 2.0], []], [[1.0], "x"], [[1.0], ["x"]], [[1.0], [["1"] * 2000] * 9],
     [1.0] * 20, [[1.0], [], "v", 0, 0, [1.0, 2.0]]],
)  # fmt: skip
def test_a_broken_benchmark_is_named_and_the_others_are_read(tmp_path: Path, row: Any) -> None:
    path = put(tmp_path, foreign({"bad": row, "good": [[1.0]]}))
    results = read_results(tmp_path)
    assert [series.name for series in results.files[0].series] == ["good"]
    (problem,) = results.problems
    assert problem.path == path
    assert "'bad' is skipped" in problem.reason


def test_a_file_above_the_bound_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, foreign({"suite.time_it": [[1.0]]}))
    monkeypatch.setattr(read, "LARGEST_FILE", 100)
    results = read_results(tmp_path)
    assert results.files == ()
    assert "larger than 100 bytes" in results.problems[0].reason


def test_units_come_from_benchmarks_json_and_a_broken_one_is_named(tmp_path: Path) -> None:
    listed = {"a": {"unit": "seconds", "type": "time"}, "version": 2}
    (tmp_path / "benchmarks.json").write_text(json.dumps(listed))
    assert read_results(tmp_path).benchmarks == {"a": read.Described("seconds", "time")}
    (tmp_path / "benchmarks.json").write_text("oops")
    assert "not JSON" in read_results(tmp_path).problems[0].reason


def test_a_journal_of_another_commit_does_not_name_a_result(tmp_path: Path) -> None:
    made = journal(tmp_path, [sample()])
    asv = tmp_path / "bench" / f"{made.path.stem}.json"
    asv.parent.mkdir()
    asv.write_text(json.dumps(foreign({"a": [[1.0]]})))
    results = read_results(tmp_path)
    assert results.files[0].header is None
    assert "another commit" in results.problems[0].reason


def test_a_missing_directory_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="make observe"):
        read_results(tmp_path / "none")


def test_journals_are_read_with_their_samples(tmp_path: Path) -> None:
    journal(tmp_path, [sample()])
    journal(tmp_path, [sample()], under=header("3.3.6"))
    labels = {contents.header and contents.header.subject.label
              for contents in read_journals(tmp_path)}  # fmt: skip
    assert labels == {"3.3.6", "3.3.7"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.sampled_from([*foreign({})]), json_values), json_values)
def test_a_hostile_result_file_never_raises(changes: dict[str, Any], row: Any) -> None:
    with tempfile.TemporaryDirectory() as directory:
        put(Path(directory), foreign({"a": row}, **changes))
        read_results(Path(directory))
