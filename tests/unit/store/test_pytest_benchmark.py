from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.store.asv.pytest_benchmark import Saved, legal_name, parse
from observatory.store.base.problems import RecordError
from tests.factories_pytest_benchmark import COMMIT, cases, entry, file, stats


def read(content: Any, *extra: str) -> Saved:
    return parse(json.dumps(content).encode(), extra)


def test_the_file_says_where_and_when_what_was_measured() -> None:
    found = read(file())
    assert (found.commit, found.dirty, found.python, found.node) == (COMMIT, False, "3.12", "ci")
    assert found.committed_at is not None
    assert found.committed_at.isoformat() == "2026-08-14T08:00:00+00:00"
    assert found.measured_at.isoformat() == "2026-11-20T12:00:00.123456+00:00"
    assert found.machine == {
        "os": "Linux 6.8", "arch": "x86_64", "cpu": "Some CPU", "num_cpu": "2", "ram": "",
    }  # fmt: skip


@pytest.mark.parametrize("known", ["unversioned", "unknown", None])
def test_a_commit_that_is_not_known_is_none(known: str | None) -> None:
    assert read(file(commit_info={"id": known})).commit is None


def test_another_python_is_told_apart() -> None:
    info = {"python_version": "3.10.14", "python_implementation": "PyPy"}
    assert read(file(machine_info=info)).python == "pypy3.10"


@pytest.mark.parametrize(
    ("node", "name"),
    [
        ("tests/test_io.py::TestRead::test_json", "tests.test_io.TestRead.test_json"),
        ("test_io.py::test_a", "test_io.test_a"),
        ("a\\b.py::test_a", "a.b.test_a"),
        ("test-io.py::test_a", "test_io_243870.test_a"),
        ("test.io.py::test_a", "test_io_54dd30.test_a"),
        ("../x.py::test_a", "___5ec1f7.x.test_a"),
        ("<b>.py::test_\u00e9\n", "_b__507ca5.test____164ec1"),
    ],
)
def test_the_name_of_a_test_becomes_that_of_a_benchmark(node: str, name: str) -> None:
    assert legal_name(node) == name
    assert all(part.isidentifier() and part.isascii() for part in name.split("."))


def test_different_tests_never_have_one_name() -> None:
    nodes = ["a-b.py::t", "a_b.py::t", "a.b.py::t", "a b.py::t", "a/b.py::t"]
    assert len({legal_name(node) for node in nodes}) == len(nodes)


def test_statistics_are_asvs_by_name() -> None:
    (found,) = read(file(entry("a.py::t", stats=stats(2.0)))).benchmarks
    assert (found.name, found.type, found.unit, found.values) == ("a.t", "time", "seconds", (2.0,))
    (one,) = found.statistics
    assert one is not None
    assert (one.q_25, one.q_75, one.repeat, one.number) == (1.9, 2.1, 9, 5)
    assert (one.ci_99_a, one.ci_99_b) == (None, None)


def test_with_data_there_is_an_interval_too() -> None:
    data = [1.0, 1.2, 1.1, 1.3, 1.05, 1.15, 0.9, 1.0, 1.4]
    (found,) = read(file(entry("a.py::t", stats=stats(1.1, data=data)))).benchmarks
    (one,) = found.statistics
    assert one is not None
    assert (one.ci_99_a, one.ci_99_b) == (0.9, 1.4)


def test_a_full_product_of_parameters_is_kept_as_one() -> None:
    params = [{"n": n, "kind": kind} for kind in "ab" for n in (1, 2)]
    (found,) = read(file(*cases("a.py::t", *params))).benchmarks
    assert found.param_names == ("kind", "n")
    assert found.params == (("'a'", "'b'"), ("1", "2"))
    assert found.values == (1.0, 2.0, 3.0, 4.0)


def test_what_is_missing_of_a_product_is_none() -> None:
    params = [{"n": 1, "kind": "a"}, {"n": 2, "kind": "b"}, {"n": 1, "kind": "b"}]
    (found,) = read(file(*cases("a.py::t", *params))).benchmarks
    assert found.params == (("'a'", "'b'"), ("1", "2"))
    assert found.values == (1.0, None, 3.0, 2.0)


@pytest.mark.parametrize(
    "params",
    [
        [{"n": n, "kind": f"k{n}"} for n in range(6)],
        [{"n": "x" * 101}, {"n": "y"}],
        [{"n": 1}, {"m": 2}],
    ],
)
def test_parameters_that_are_no_product_go_by_pytests_ids(params: list[dict[str, Any]]) -> None:
    entries = cases("a.py::t", *params)
    (found,) = read(file(*entries)).benchmarks
    assert found.param_names == ("id",)
    assert found.params == (tuple(repr(one["param"]) for one in entries),)
    assert found.values == tuple(range(1, len(params) + 1))


def test_a_parameter_that_is_a_function_goes_by_pytests_id_and_not_by_its_address() -> None:
    """As in PyTensor's own tests/benchmarks/test_graph.py: else each run begins other series."""
    made = []
    for address in ("0x7f2a425ab100", "0x7f4e71d14400"):
        text = f"UNSERIALIZABLE[<function <lambda> at {address}>]"
        one = entry("a.py::t[toposort]", param="toposort", params={"func": text})
        made += read(file(one)).benchmarks
    assert [(one.param_names, one.params) for one in made] == [(("id",), (("'toposort'",),))] * 2


def test_extra_info_is_imported_where_it_is_asked_for_and_is_a_number() -> None:
    tests = cases("a.py::t", {"n": 1}, {"n": 2})
    for number, test in enumerate(tests):
        test["extra_info"] = {"rss": 10 + number, "note": "x"}
    found = read(file(*tests), "rss")
    assert found.left_out == {"note"}
    by_name = {one.name: one for one in found.benchmarks}
    assert set(by_name) == {"a.t", "a.t.track_rss"}
    segmented = by_name["a.t.track_rss"]
    assert (segmented.type, segmented.unit, segmented.values) == ("track", "", (10.0, 11.0))
    for number in ("x", 10**400, True):
        for test in tests:
            test["extra_info"]["note"] = number
        (problem, _) = read(file(*tests), "note").problems
        assert "extra_info 'note' is not a number" in problem


@pytest.mark.parametrize(
    "bad",
    [
        None, [], {}, {"fullname": 3}, entry(""), entry("a" * 801), entry("a.py::t", stats={}),
        entry("a.py::t", stats=stats(float("nan"))), entry("a.py::t", stats=stats(rounds=0)),
        entry("a.py::t", stats=stats(data=["x"])), entry("good.py::t"),
        entry("good.py::t", param="", median=3.0), entry("good::t"),
    ],
)  # fmt: skip
def test_a_broken_test_is_named_and_the_others_are_imported(bad: Any) -> None:
    found = read(file(entry("good.py::t"), bad))
    assert [one.name for one in found.benchmarks] == ["good.t"]
    assert found.benchmarks[0].values == (2.0,)
    (problem,) = found.problems
    assert "is skipped: " in problem


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"[1]", "does not fit the schema"),
        (json.dumps({"results": {}, "version": 2}).encode(), "machine_info: Field required"),
        (json.dumps(file(datetime="noon")).encode(), "'noon' is no time"),
        (json.dumps(file(datetime="0001-01-01T00:00:00+20:00")).encode(), "is no time"),
        (json.dumps(file(benchmarks={})).encode(), "benchmarks"),
        (json.dumps(file(machine_info={"python_version": "x"})).encode(), "'x' is not a Python"),
    ],
)
def test_what_is_not_pytest_benchmarks_is_an_error_that_says_why(
    content: bytes, reason: str
) -> None:
    with pytest.raises(RecordError, match=r"it is not a file of pytest-benchmark|is none") as error:
        parse(content)
    assert reason in str(error.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@settings(max_examples=200)
@given(
    st.dictionaries(st.sampled_from([*file()]), json_values),
    st.dictionaries(st.sampled_from([*entry("")]), json_values),
    st.dictionaries(st.sampled_from([*stats(), "data"]), json_values),
)
def test_hostile_content_is_an_error_or_a_problem_and_never_a_crash(
    top: dict[str, Any], changes: dict[str, Any], numbers: dict[str, Any]
) -> None:
    bad = entry("a.py::t[1]", stats=stats() | numbers) | changes
    try:
        found = read(file(entry("good.py::t"), bad) | top, "a")
    except RecordError:
        return
    for one in found.benchmarks:
        assert len(one.values) == len(one.statistics) == math.prod(map(len, one.params))
    if "benchmarks" not in top:
        assert len(found.benchmarks) + len(found.problems) >= 2
