from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.store.asv import listing
from observatory.store.asv.files import project
from observatory.store.base.problems import RecordError
from observatory.store.journal.models import SEARCH
from observatory.store.reading import read
from observatory.store.reading.read import benchmarks_of, read_results, united
from observatory.store.records import layout
from tests.factories import LATER, RUN, header, journal, sample
from tests.factories_asv import Value, foreign, old, put, row, values


def test_a_result_file_of_another_project_is_read(tmp_path: Path) -> None:
    made = row(result=[1.5, None], params=[["1", "2"]], stats_ci_99_a=[1.0, None],
               stats_ci_99_b=[2.0, None], stats_repeat=[9, None])  # fmt: skip
    put(tmp_path, foreign({"suite.time_it": made}))
    results = read_results(tmp_path)
    (file,) = results.files
    assert (file.machine, file.python, file.header) == ("ci", "3.12", None)
    assert file.date.isoformat() == "2023-11-14T22:13:20+00:00"
    assert values(results) == [Value("suite.time_it", ("1",), 1.5, 9, 1.0, 2.0)]
    assert len(results.series[0]) == 2
    assert results.problems == ()


def test_nan_and_infinity_are_read_and_are_no_values(tmp_path: Path) -> None:
    made = row(result=[float("nan"), float("inf"), 1.0], params=[["1", "2", "3"]])
    put(tmp_path, foreign({"suite.time_it": made}))
    results = read_results(tmp_path)
    assert values(results) == [Value("suite.time_it", ("3",), 1.0)]
    assert results.problems == ()


def test_old_and_new_files_of_machines_and_environments_are_read_together(tmp_path: Path) -> None:
    put(tmp_path, old({"a": 1.0}), "c0ffee00-old.json")
    put(tmp_path, foreign({"a": [[2.0]]}), "c0ffee00-new.json")
    other = foreign({"a": [[3.0]]}, params={"machine": "other"}, env_name=None)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "c0ffee00-x.json").write_text(json.dumps(other))
    results = read_results(tmp_path)
    told = [(file.machine, file.env_name, file.python) for file in results.files]
    assert told == [
        ("ci", "virtualenv-py3.12", "3.12"),
        ("ci", "conda-py3.6-numpy", "3.6"),
        ("other", "", "3.12"),
    ]
    moved = foreign({"a": [[4.0]]}, params={"machine": "renamed"})
    nameless = foreign({"a": [[5.0]]}, params={})
    found = []
    for content in (moved, nameless):
        (tmp_path / "other" / "c0ffee00-x.json").write_text(json.dumps(content))
        found.append(read_results(tmp_path).files[2].machine)
    assert found == ["renamed", "other"]  # what a file says counts more than where it lies
    by_file = dict(zip(results.file.tolist(), results.values.value.tolist(), strict=True))
    assert by_file == {0: 2.0, 1: 1.0, 2: 3.0}
    assert len(results.series) == 1


def test_values_of_a_series_are_in_the_order_of_their_dates(tmp_path: Path) -> None:
    for day, name in ((3, "a.json"), (1, "b.json"), (2, "c.json")):
        date = 1_700_000_000_000 + day * 86_400_000
        put(tmp_path, foreign({"suite.time_it": [[float(day)]]}, date=date), f"c0ffee00-{name}")
    results = read_results(tmp_path)
    assert [file.path.name[-6:] for file in results.files] == ["a.json", "b.json", "c.json"]
    assert results.values.value.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "not JSON"),
        ("[1, 2]", "not an asv result file of format 1 or 2"),
        ("[" * 100_000, "not JSON"),
        (json.dumps({"version": 1, "results": {}}), "commit_hash"),
        (json.dumps({"version": 3, "results": {}}), "of format 1 or 2 but of 3"),
        (json.dumps(foreign({}, version=True)), "of format 1 or 2 but of True"),
        (json.dumps(foreign({}, commit_hash=3)), "commit_hash"),
        (json.dumps(foreign({}, date=-1)), "date"),
        (json.dumps(foreign({}, date=10**18)), "date"),
        (json.dumps(foreign({}, results=[])), "results"),
        (json.dumps(foreign({}, result_columns=["params"])), "no `result`"),
        (json.dumps(foreign({}, result_columns=["result", "result"])), "a column twice"),
        (json.dumps(foreign({}, params={"cpu": ["many"]})), "params.cpu"),
        (json.dumps(old({}, params=[])), "params"),
        ('{"version": 1, "results": {"\\ud800": 1}}', "not JSON"),
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
    assert results.unread == (broken,)  # no alert of its machine is withdrawn for what it lacks


@pytest.mark.parametrize(
    "bad",
    [3, [[1.0, 2.0], []], [[1.0], "x"], [[1.0], ["x"]], [[1.0], [["1"] * 2000] * 9],
     [1.0] * 20, [[1.0], [], "v", 0, 0, [1.0, 2.0]], None, [["1.0"]], [[[1.0]]],
     [[1.0], [[{}]]], [3.0]],
)  # fmt: skip
def test_a_broken_benchmark_is_named_and_the_others_are_read(tmp_path: Path, bad: Any) -> None:
    path = put(tmp_path, foreign({"bad": bad, "good": [[1.0]]}))
    results = read_results(tmp_path)
    assert values(results) == [Value("good", (), 1.0)]
    (problem,) = results.problems
    assert problem.path == path
    assert "'bad' is skipped" in problem.reason


def test_a_file_above_the_bound_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, foreign({"suite.time_it": [[1.0]]}))
    monkeypatch.setattr(listing, "LARGEST_FILE", 100)
    results = read_results(tmp_path)
    assert results.files == ()
    assert "larger than 100 bytes" in results.problems[0].reason


def test_what_is_no_file_is_named_and_never_opened(tmp_path: Path) -> None:
    put(tmp_path, foreign({"a": [[1.0]]}))
    os.mkfifo(tmp_path / "ci" / "pipe.json")
    (tmp_path / "ci" / "gone.json").symlink_to(tmp_path / "nowhere")
    results = read_results(tmp_path)
    assert [p.path.name for p in results.problems] == ["gone.json", "pipe.json"]
    assert [path.name for path in results.unread] == ["gone.json", "pipe.json"]
    assert len(results.files) == 1


def test_names_of_files_that_are_no_text_are_read_and_printed(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff")
    odd.mkdir()
    (odd / "a.json").write_text(json.dumps(foreign({"a": [[1.0]]}, params={})))
    (odd / os.fsdecode(b"\xfe.json")).write_text("[]")
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        results = read_results(tmp_path, cache)
        assert results.files[0].machine == "\N{REPLACEMENT CHARACTER}"
        said = str(results.problems[0]).encode().decode()
        assert "\\udcff/\\udcfe.json: it is not an asv" in said


def test_the_directory_of_one_machine_is_read_too(tmp_path: Path) -> None:
    put(tmp_path, foreign({"a": [[1.0]]}))
    assert read_results(tmp_path / "ci").files == ()
    (tmp_path / "ci" / "machine.json").write_text("{}")
    assert len(read_results(tmp_path / "ci").files) == 1


def test_what_is_ours_and_no_result_is_not_taken_for_one(tmp_path: Path) -> None:
    put(tmp_path, foreign({"a": [[1.0]]}))
    for name in ("samples", "ledgers", "calibrations"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ci.json").write_text("{}")
    results = read_results(tmp_path)
    assert (len(results.files), results.problems) == (1, ())


def test_units_come_from_benchmarks_json_and_a_broken_one_is_named(tmp_path: Path) -> None:
    made = {"a": {"unit": "seconds", "type": "time"}, "b": [], "version": 2}
    (tmp_path / "benchmarks.json").write_text(json.dumps(made))
    results = read_results(tmp_path)
    assert results.benchmarks == {"a": read.Described("seconds", "time")}
    assert "'b' is not an object" in results.problems[0].reason
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
    with pytest.raises(RecordError, match="make one with `observatory observe`"):
        read_results(tmp_path / "none")


def test_journals_are_summarised(tmp_path: Path) -> None:
    journal(tmp_path, [sample()])
    journal(tmp_path, [sample()], under=header("3.3.6"))
    summaries = read_results(tmp_path).journals.values()
    assert {one.header and one.header.subject.label for one in summaries} == {"3.3.6", "3.3.7"}
    assert {one.measured_at for one in summaries} == {sample().started_at}


def test_each_broken_line_of_a_journal_is_named_with_its_number(tmp_path: Path) -> None:
    made = journal(tmp_path, [sample()])
    with made.path.open("ab") as stream:
        stream.write(b"oops\n")
    (problem,) = read_results(tmp_path).problems
    assert (problem.path, problem.line) == (made.path, 3)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from([*foreign({})]), json_values), json_values)
def test_a_hostile_result_file_never_raises(changes: dict[str, Any], row: Any) -> None:
    with tempfile.TemporaryDirectory() as directory:
        put(Path(directory), foreign({"a": row}, **changes))
        read_results(Path(directory))


def test_a_file_that_grew_beyond_the_bound_is_not_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "benchmarks.json"
    path.write_text("{}" + " " * 10)
    assert benchmarks_of(path).head == {}
    monkeypatch.setattr(read, "LARGEST_FILE", 5)
    with pytest.raises(RecordError, match="larger than 5 bytes"):
        benchmarks_of(path)


def test_units_of_another_kind_than_text_are_none(tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.json"
    path.write_bytes(b'{"a": {"unit": ' + b"[" * 900 + b"]" * 900 + b', "type": null}}')
    assert benchmarks_of(path).head == {"a": ["", ""]}


@pytest.mark.parametrize("directory", layout.RESERVED)
def test_what_a_directory_of_the_observatory_holds_is_no_asv_result(
    tmp_path: Path, directory: str
) -> None:
    record = tmp_path / directory / "20261124T033910-3.3.8-NUMBA.json"
    record.parent.mkdir()
    record.write_text('{"pairs": 0}')
    found = read_results(tmp_path)
    assert (list(found.files), list(found.problems)) == ([], [])


def test_combinations_that_only_a_search_measured_are_no_subjects(tmp_path: Path) -> None:
    mixed = header(extras=("numba==0.66.0",))
    release, searched = header(), f"{RUN}-{SEARCH}"
    for under, run in ((release, searched), (mixed, searched)):
        project(
            tmp_path, journal(tmp_path, [sample(metrics={"cache_misses": 3})], run, under).read()
        )
    found = read_results(tmp_path)
    assert [one.env_name for one in found.files] == [release.subject.env_name]
    assert len(found.journals) == 1
    project(
        tmp_path,
        journal(tmp_path, [sample(metrics={"cache_misses": 3})], f"{LATER}-quick", mixed).read(),
    )
    assert len(read_results(tmp_path).files) == 2, "somebody measured it as a subject"


def test_of_what_two_directories_hold_values_and_journal_are_of_one(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    # A journal alone, as of a run that was killed before it wrote any value.
    journal(first, [sample()], RUN, header("3.3.6"))
    for results, label, misses in (
        (first, "3.3.7", 3), (second, "3.3.7", 4), (second, "3.3.6", 5),
    ):  # fmt: skip
        made = journal(results, [sample(metrics={"cache_misses": misses})], LATER, header(label))
        project(results, made.read())
    nameless = second / layout.SAMPLES / "bench" / "nameless.jsonl"
    nameless.write_text("no header\n")
    found = united([read_results(first), read_results(second)])
    both = {one.path.relative_to(tmp_path).parts[0]: one.commit for one in found.files}
    kept = {
        path.relative_to(tmp_path).parts[0]: one.header.subject.commit
        for path, one in found.journals.items()
        if one.header is not None
    }
    assert kept == both == {"first": header().subject.commit,
                            "second": header("3.3.6").subject.commit}  # fmt: skip
    assert nameless in found.journals


def test_a_journal_alone_counts_in_the_first_directory_that_has_it(tmp_path: Path) -> None:
    paths = [journal(tmp_path / name, [sample()]).path for name in ("first", "second")]
    found = united([read_results(tmp_path / name) for name in ("first", "second")])
    assert list(found.journals) == paths[:1]


def test_of_what_two_directories_say_of_a_benchmark_the_first_one_counts(tmp_path: Path) -> None:
    for name, units in (
        ("first", {"a": "seconds", "b": "bytes"}), ("second", {"a": "ms", "c": "calls"})
    ):  # fmt: skip
        (tmp_path / name).mkdir()
        made = {benchmark: {"unit": unit, "type": "track"} for benchmark, unit in units.items()}
        (tmp_path / name / "benchmarks.json").write_text(json.dumps(made))
    found = united([read_results(tmp_path / name) for name in ("first", "second")])
    said = {name: one.unit for name, one in found.benchmarks.items()}
    assert said == {"a": "seconds", "b": "bytes", "c": "calls"}
