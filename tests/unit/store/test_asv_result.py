"""Every form in which a benchmark has stood in a result file."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from asv.results import Results as AsvResults
from asv_runner.statistics import compute_stats

from observatory.store.asv import columns, result
from observatory.store.asv.columns import SeriesList
from observatory.store.asv.result import Head, parse
from tests.factories_asv import Value, foreign, listed, old, row

STATS = {"ci_99": [0.9, 1.1], "q_25": 0.95, "q_75": 1.05, "min": 0.8, "max": 1.2, "number": 3,
         "repeat": 7}  # fmt: skip
TWO = [["1", "2"]]


def read(content: dict[str, Any]) -> tuple[list[Value], tuple[str, ...]]:
    series = SeriesList()
    found = parse(json.dumps(content).encode(), series)
    assert found.head is not None
    return listed(found.columns, series.all), found.problems


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (1.5, [Value("a", (), 1.5)]),
        (7, [Value("a", (), 7.0)]),
        (True, [Value("a", (), 1.0)]),
        ([1.5], [Value("a", (), 1.5)]),
        (None, []),
        (math.nan, []),
        ({"result": 1.5}, [Value("a", (), 1.5)]),
        ({"result": [1.5], "stats": [STATS]}, [Value("a", (), 1.5, 7, 0.9, 1.1)]),
        ({"result": 1.5, "stats": STATS}, [Value("a", (), 1.5, 7, 0.9, 1.1)]),
        ({"result": [1.5], "stats": [None]}, [Value("a", (), 1.5)]),
        ({"result": [1.5], "stats": [{"ci_99": [0.9, math.inf], "n": 4}]},
         [Value("a", (), 1.5, 4)]),
        ({"result": [1.5], "params": [], "samples": None}, [Value("a", (), 1.5)]),
        ({"result": None, "params": TWO}, []),
        ({"result": [None, 2.5], "params": TWO}, [Value("a", ("2",), 2.5)]),
        ({"result": [1.5, 2.5], "params": TWO, "stats": [None, STATS], "samples": [[1.5], None]},
         [Value("a", ("1",), 1.5, 1), Value("a", ("2",), 2.5, 7, 0.9, 1.1)]),
        ({"result": [1, 2, 3, 4], "params": [["'x'", "'y'"], ["1", "2"]]},
         [Value("a", (x, n), v) for v, (x, n) in enumerate(
             [("'x'", "1"), ("'x'", "2"), ("'y'", "1"), ("'y'", "2")], 1)]),
    ],
)  # fmt: skip
def test_each_spelling_of_format_1_is_read(entry: Any, expected: list[Value]) -> None:
    assert read(old({"a": entry})) == (expected, ())


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({}, "it has no `result`"),
        ({"result": [1.0, 2.0]}, "its `result` does not have the 1 values"),
        ({"result": [1.0], "stats": ["x"]}, "its `stats` is not a list of objects"),
        ({"result": [1.0], "samples": 3}, "its `samples` does not have the 1 values"),
        ({"result": [1.0], "params": {}}, "its `params` is not a list of lists"),
        ("slow", "1 of its 1 values are not numbers"),
        ({"result": [1.0, "x", {}], "params": [["1", "2", "3"]]}, "in part: 2 of its 3 values"),
    ],
)
def test_a_broken_entry_of_format_1_is_named(entry: Any, reason: str) -> None:
    found, problems = read(old({"bad": entry, "good": 1.0}))
    assert Value("good", (), 1.0) in found
    (problem,) = problems
    assert problem.startswith("benchmark 'bad' is skipped")
    assert reason in problem


def test_format_1_is_read_as_asv_itself_converts_it() -> None:
    content = old(
        {
            "bare": 1.5,
            "failed": None,
            "timed": {"result": [2.5], "stats": [STATS]},
            "scalar": {"result": 3.5, "stats": STATS},
            "many": {"result": [1.0, None], "params": TWO, "stats": [STATS, None],
                     "samples": [[1.0, 1.1], None]},
        }
    )  # fmt: skip
    converted = AsvResults.update_to_2(json.loads(json.dumps(content))) | {"version": 2}
    assert sorted(read(content)[0]) == sorted(read(converted)[0])


SAMPLES = [1.0, 1.2, 1.1, 1.3, 1.05, 1.15, 0.9, 1.0, 1.4]


@pytest.mark.parametrize(
    "content",
    [
        foreign({"a": row(result=[1.1], samples=[SAMPLES])}),
        old({"a": {"result": [1.1], "samples": [SAMPLES]}}),
        old({"a": {"result": 1.1, "samples": SAMPLES}}),
    ],
)
def test_where_there_are_only_samples_n_and_interval_come_from_them(
    content: dict[str, Any],
) -> None:
    ((found,), problems) = read(content)
    _, stats = compute_stats(SAMPLES, 1)
    assert found == Value("a", (), 1.1, 9, stats["ci_99_a"], stats["ci_99_b"])
    assert problems == ()


@pytest.mark.parametrize(
    "samples",
    [[], [1.0], [math.nan, 1.0], [1e308, -1e308, 1e308], ["x", {}], [10**400, 1.0, 2.0]],
)
def test_odd_samples_give_no_interval_and_no_error(samples: list[Any]) -> None:
    ((found,), problems) = read(foreign({"a": row(result=[1.0], samples=[samples])}))
    assert (found.value, found.ci_low, problems) == (1.0, None, ())


def test_stored_statistics_are_preferred_to_new_ones() -> None:
    made = row(result=[1.1], samples=[SAMPLES], stats_ci_99_a=[0.5], stats_ci_99_b=[1.5])
    assert read(foreign({"a": made}))[0] == [Value("a", (), 1.1, 9, 0.5, 1.5)]


def test_columns_may_stand_in_any_order_and_unknown_ones_are_passed_over() -> None:
    content = foreign({"a": ["?", [["1"]], [2.5]]}, result_columns=["new", "params", "result"])
    assert read(content) == ([Value("a", ("1",), 2.5)], ())


def test_the_head_is_what_all_values_have_in_common() -> None:
    assert parse(json.dumps(old({})).encode(), SeriesList()).head == Head(
        machine="ci", commit="c0ffee" + "0" * 34, env_name="conda-py3.6-numpy",
        date=1_500_000_000_000, python="3.6",
        params={"machine": "ci", "python": "3.6", "numpy": ""},
    )  # fmt: skip
    bare = parse(json.dumps(foreign({}, params={}, python=None)).encode(), SeriesList()).head
    assert bare is not None
    assert (bare.machine, bare.python) == ("", "")


def test_thousands_of_broken_benchmarks_are_counted_beyond_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(result, "MOST_PROBLEMS", 2)
    _, problems = read(foreign({str(number): 3 for number in range(5)}))
    assert len(problems) == 3
    assert problems[-1] == "3 more benchmarks are skipped"


def test_names_of_endless_length_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _, problems = read(foreign({"a" * 1001: [[1.0]]}))
    assert "its name is longer than 1000 characters" in problems[0]
    monkeypatch.setattr(columns, "LARGEST_TEXT", 2000)
    wide = [["1" * 100, "2"], ["3" * 100, "4"]]
    content = foreign({name: [[1, 2, 3, 4], wide] for name in "ab"})
    found, problems = read(content)
    assert len(found) == 4
    assert "more than 2,000 characters" in problems[0]
