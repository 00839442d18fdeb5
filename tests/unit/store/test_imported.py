from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from observatory.store.asv import benchmarks_json
from observatory.store.asv.benchmarks_json import united
from observatory.store.asv.files import write_benchmarks, write_machine
from observatory.store.asv.imported import Options, import_file
from observatory.store.base.locking import is_waited_for, locked
from observatory.store.base.problems import RecordError
from observatory.store.reading.read import read_results
from observatory.store.records.machine import Machine
from tests.factories_asv import Value, foreign, put, values
from tests.factories_pytest_benchmark import COMMIT, cases, entry, file, saved, stats

NAME = f"{COMMIT[:8]}-pytest-benchmark-py3.12.json"


def brought(
    tmp_path: Path, *benchmarks: Any, options: Options | None = None, **changes: Any
) -> Path:
    """Import a file into ``tmp_path/results``; returns that."""
    results = tmp_path / "results"
    import_file(saved(tmp_path, file(*benchmarks, **changes)), results, options or Options())
    return results


def test_an_import_waits_for_another_one_and_adds_to_what_that_wrote(tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    later = saved(tmp_path, file(entry("a.py::later")))
    with ThreadPoolExecutor() as pool:
        with locked(results):
            waiting = pool.submit(import_file, later, results, Options())
            until = time.monotonic() + 60
            while not is_waited_for(results):
                assert time.monotonic() < until
                time.sleep(0.01)
            write_benchmarks_of_another(results)
        assert waiting.result(60).benchmarks == 1
    found = json.loads((results / "benchmarks.json").read_bytes())
    assert set(found) == {"another", "a.later", "version"}


def write_benchmarks_of_another(results: Path) -> None:
    benchmarks_json.write(results, {"another": {"name": "another"}})


def content(results: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in results.rglob("*") if path.is_file()}


def test_the_values_are_read_like_those_of_asv(tmp_path: Path) -> None:
    data = [1.0, 1.2, 1.1, 1.3, 1.05, 1.15, 0.9, 1.0, 1.4]
    tests = [entry("a.py::t", stats=stats(1.1, data=data)), *cases("b.py::u", {"n": 1}, {"n": 2})]
    results = brought(tmp_path, *tests)
    read = read_results(results)
    assert values(read) == [
        Value("a.t", (), 1.1, 9, 0.9, 1.4),
        Value("b.u", ("1",), 1.0, 9),
        Value("b.u", ("2",), 2.0, 9),
    ]
    assert read.problems == ()
    assert {name: (one.unit, one.type) for name, one in read.benchmarks.items()} == {
        "a.t": ("seconds", "time"), "b.u": ("seconds", "time"),
    }  # fmt: skip
    (found,) = read.files
    assert found.path == results / "ci" / NAME
    assert (found.commit, found.python, found.machine) == (COMMIT, "3.12", "ci")
    assert found.date.isoformat() == "2026-08-14T08:00:00+00:00"


def test_importing_twice_gives_the_same_files(tmp_path: Path) -> None:
    tests = [entry("a.py::t"), *cases("b.py::u", {"n": 1}, {"n": 2})]
    results = brought(tmp_path, *tests)
    before = content(results)
    brought(tmp_path, *tests)
    assert content(results) == before


def test_another_file_of_the_same_commit_is_added_and_replaces_what_it_repeats(
    tmp_path: Path,
) -> None:
    brought(tmp_path, entry("a.py::t", median=1.0), entry("a.py::u", median=2.0))
    results = brought(tmp_path, entry("a.py::u", median=3.0), entry("a.py::v", median=4.0))
    found = {value.name: value.value for value in values(read_results(results))}
    assert found == {"a.t": 1.0, "a.u": 3.0, "a.v": 4.0}


def test_a_label_keeps_runs_of_one_commit_apart(tmp_path: Path) -> None:
    for label in ("one", "two"):
        results = brought(tmp_path, entry("a.py::t"), options=Options(label=label))
    assert len(read_results(results).files) == 2


def test_parameters_of_all_imports_stay_in_benchmarks_json(tmp_path: Path) -> None:
    brought(tmp_path, *cases("a.py::t", {"n": 1}, {"n": 2}))
    other = {"id": "f" * 40, "time": "2026-08-15T10:00:00Z"}
    results = brought(tmp_path, *cases("a.py::t", {"n": 2}, {"n": 3}), commit_info=other)
    listed = json.loads((results / "benchmarks.json").read_text())
    assert listed["a.t"]["params"] == [["1", "2", "3"]]
    assert [value.params for value in values(read_results(results))] == [
        ("1",), ("2",), ("2",), ("3",),
    ]  # fmt: skip


def test_benchmarks_of_suites_and_of_imports_do_not_drop_each_other(tmp_path: Path) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    (suites / "__init__.py").touch()
    (suites / "bench.py").write_text("def track_it(): ...\n")
    results = tmp_path / "results"
    write_benchmarks(results, suites)
    brought(tmp_path, entry("a.py::t"))
    names = {"bench.track_it", "a.t", "version"}
    assert set(json.loads((results / "benchmarks.json").read_text())) == names
    write_benchmarks(results, suites)
    assert set(json.loads((results / "benchmarks.json").read_text())) == names
    (suites / "bench.py").write_text("def track_other(): ...\n")
    write_benchmarks(results, suites)
    names = {"bench.track_other", "a.t", "version"}
    assert set(json.loads((results / "benchmarks.json").read_text())) == names


def test_names_of_others_are_not_taken(tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    (results / "benchmarks.json").write_text('{"a.t": {"name": "a.t", "type": "time"}}')
    tests = [entry("a.py::t"), entry("compile.py::Cold::track_compile_time"), entry("a.py::u")]
    done = import_file(saved(tmp_path, file(*tests)), results, Options())
    assert done.benchmarks == 1
    assert [problem.reason.partition("'")[2].partition("'")[0] for problem in done.problems] == [
        "a.t", "compile.Cold.track_compile_time",
    ]  # fmt: skip
    assert [value.name for value in values(read_results(results))] == ["a.u"]


def test_where_nothing_can_be_imported_nothing_is_written(tmp_path: Path) -> None:
    results = tmp_path / "results"
    done = import_file(saved(tmp_path, file({})), results, Options())
    assert (done.benchmarks, len(done.problems)) == (0, 1)
    assert not results.exists()


def test_a_machine_that_is_described_already_keeps_its_description(tmp_path: Path) -> None:
    write_machine(tmp_path / "results", Machine(machine="ci", ram="16 GB"))
    before = (tmp_path / "results" / "ci" / "machine.json").read_bytes()
    results = brought(tmp_path, entry("a.py::t"))
    assert (results / "ci" / "machine.json").read_bytes() == before
    assert read_results(results).files[0].params["ram"] == "16 GB"


def test_options_replace_what_the_file_says(tmp_path: Path) -> None:
    options = Options(machine="other", commit="ABCDEF12" * 5)
    results = brought(tmp_path, entry("a.py::t"), options=options)
    (found,) = read_results(results).files
    assert (found.machine, found.commit) == ("other", "abcdef12" * 5)
    assert found.date.isoformat() == "2026-11-20T12:00:00.123000+00:00"  # of the measurement


@pytest.mark.parametrize(
    ("changes", "options", "reason"),
    [
        ({"commit_info": {"id": "unversioned"}}, Options(), "give --commit HASH"),
        ({}, Options(commit="v1.0"), "'v1.0' is not the hash of a commit"),
        ({}, Options(machine="../up"), "give --machine NAME"),
        ({}, Options(machine="samples"), "cannot be named 'samples'"),
        ({"machine_info": {"python_version": "3.12"}}, Options(), "give --machine NAME"),
        ({"machine_info": {"python_version": "3.12", "node": "a b"}}, Options(), "'a b'"),
        ({}, Options(label="a/b"), "the label 'a/b'"),
        ({}, Options(label="x" * 61), "longer than 60"),
    ],
)
def test_what_is_missing_or_no_name_is_an_error_that_says_what_to_do(
    tmp_path: Path, changes: dict[str, Any], options: Options, reason: str
) -> None:
    with pytest.raises(RecordError) as error:
        brought(tmp_path, entry("a.py::t"), options=options, **changes)
    assert reason in str(error.value)
    assert str(tmp_path / "saved.json") in str(error.value)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("benchmarks.json", "oops", "benchmarks.json cannot be read"),
        ("benchmarks.json", "[]", "not an object of benchmarks"),
        ("ci/machine.json", "oops", "machine.json cannot be read"),
        ("ci/machine.json", "[]", "machine.json cannot be read"),
        ("ci/machine.json", '{"machine": "other"}', "describes another machine, 'other'"),
        (f"ci/{NAME}", "oops", "cannot be added to"),
        (f"ci/{NAME}", json.dumps(foreign({})), "holds other results"),
        (f"ci/{NAME}", "{}", "holds other results"),
    ],
)
def test_what_it_would_be_added_to_is_left_alone_if_it_is_broken_or_somebody_elses(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    path = tmp_path / "results" / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    before = content(tmp_path / "results")
    with pytest.raises(RecordError, match=reason):
        brought(tmp_path, entry("a.py::t"))
    assert content(tmp_path / "results") == before


def test_a_file_that_is_none_or_too_large_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, reason in (("none", "No such file"), (".", "is not a file"), ("pipe", "not a file")):
        with pytest.raises(RecordError, match=reason):
            import_file(tmp_path / name, tmp_path, Options())
    monkeypatch.setattr("observatory.store.asv.imported.LARGEST_IMPORT", 100)
    with pytest.raises(RecordError, match="larger than 100 bytes"):
        brought(tmp_path, entry("a.py::t"))


def test_results_of_asv_beside_it_are_untouched(tmp_path: Path) -> None:
    path = put(tmp_path / "results", foreign({"a": [[1.0]]}))
    before = path.read_bytes()
    results = brought(tmp_path, entry("a.py::t"))
    assert path.read_bytes() == before
    assert len(read_results(results).files) == 2


@pytest.mark.parametrize("params", [None, 3, [3], [[{}]], [["1"], ["2"]]])
def test_parameters_that_are_other_or_no_texts_are_not_united(params: Any) -> None:
    now = {"imported": "x", "param_names": ["n"], "params": [["1"]]}
    assert united({**now, "params": params}, now) == now
    assert united({**now, "params": [["2"]]}, now)["params"] == [["2", "1"]]
