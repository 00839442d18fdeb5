"""The data files: what interactive pages load."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.app.observed import site_data
from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.data import data_files
from observatory.dashboard.kept import Later
from observatory.dashboard.lines import BLOCK
from observatory.dashboard.site_input import SiteInput
from observatory.dashboard.subject_values import significant
from observatory.text.forge import Forge
from tests import factories_frame as factory
from tests.factories_site import observed
from tests.factories_work import CALLGRIND, HARDWARE, history

SHELVES = observed(factory.frame()).shelves
WARM = Cell("radon", "warm_process", "NUMBA", "fork")


def data(frame: Any = None) -> dict[str, Any]:
    return data_of(observed(factory.frame() if frame is None else frame))


def data_of(site: SiteInput) -> dict[str, Any]:
    found = {}
    for path, made in data_files(site, Forge()):
        content = made.make() if isinstance(made, Later) else made
        head, _, rest = content.decode().partition(",")
        name = path.removeprefix("data/").removesuffix(".js")
        assert head == f'observatory.receive("{name}"'
        assert rest.endswith(");\n")
        found[name] = json.loads(rest[: -len(");\n")])
        if name.startswith("series-"):
            found[name] = {id_: json.loads(text) for id_, text in found[name].items()}
        elif name in ("index", "grid"):
            found[name] = {column: long(one) for column, one in found[name].items()}
    return found


def long(column: Any) -> Any:
    """A column as the pages see it."""
    if not isinstance(column, dict):
        return column
    at = column["at"]
    return [column["of"][k] for k in ([0] * at if isinstance(at, int) else at)]


def test_every_series_is_in_the_file_that_its_id_names() -> None:
    found = data()
    for id_ in found["index"]["id"]:
        assert id_ in found[f"series-{SHELVES.of(id_)}"]
    assert sum(len(v) for k, v in found.items() if k.startswith("series-")) == len(
        found["index"]["id"]
    )


def test_a_series_has_its_values_levels_and_steps() -> None:
    found = data()
    index = found["index"]
    number = next(
        i for i, name in enumerate(index["name"])
        if name == str(WARM) and index["metric"][i] == "compile_time"
    )  # fmt: skip
    id_ = index["id"][number]
    series = found[f"series-{SHELVES.of(id_)}"][id_]
    assert len(series["v"]) == len(factory.RELEASES)
    assert series["at"] is None
    assert series["colour"] == "numba"
    assert len(series["levels"]) == len(series["bounds"]) - 1
    assert [step["at"] for step in series["steps"]] == series["bounds"][1:-1]


def test_a_subject_has_the_values_of_all_series_and_their_levels() -> None:
    found = data()
    number = len(factory.RELEASES) - 1
    newest = found[f"at-0-{number // BLOCK}"][str(number)]
    assert len(newest["i"]) == len(newest["v"]) == len(newest["l"])
    judged = [found["index"]["judgement"][i] == "judged" for i in newest["i"]]
    assert any(judged)
    assert [level is not None for level in newest["l"]] == judged
    assert set(newest["o"]) <= set(newest["i"])


def test_what_two_cpus_do_not_share_is_known_of_every_series() -> None:
    """The compare page concludes nothing of it, as `observatory compare` does not."""
    cell = Cell("radon", "cold", "NUMBA", "spawn")
    names = (
        "retained_bytes", "object_code_bytes", "instructions", "llvm_pass_runs", "import_time",
        "compile_time",
    )  # fmt: skip
    site = observed(factory.as_frame([factory.row(cell, name, 1.0) for name in names]))
    found = data_of(site)
    index, rules = found["index"], found["rules"]["rules"]
    by_metric = {name: rules[k] for name, k in zip(index["metric"], index["rule"], strict=True)}
    assert {name for name in names if by_metric[name]["of_cpu"]} == {
        "retained_bytes",
        "llvm_pass_runs",  # of code for the CPU: only the pass `work` names one
    }
    assert {name for name in names if by_metric[name]["once"]} == {"import_time"}
    assert [one["cpu"] for one in found["lines"]["lines"]] == [site.lines[0].era.cpu]


def test_the_index_says_what_counted_the_work_of_a_series(tmp_path: Path) -> None:
    site, _ = site_data([history(tmp_path / "results", (2e9, CALLGRIND), (2.2e9, HARDWARE))])
    index = data_of(site)["index"]
    sources: dict[bool, set[str]] = {True: set(), False: set()}
    for metric, source in zip(index["metric"], index["source"], strict=True):
        sources[metric == "instructions"].add(source)
    assert sources == {True: {CALLGRIND, HARDWARE}, False: {""}}


def test_a_gap_gives_the_positions_of_what_is_there() -> None:
    rows = [r for r in factory.frame().to_dict("records")
            if not (r["subject"] == "3.0.0" and r["scenario"] == "warm_process")]  # fmt: skip
    found = data(factory.as_frame(rows))
    series = [one for name, each in found.items() if name.startswith("series-")
              for one in each.values() if one["name"] == str(WARM)]  # fmt: skip
    place = list(factory.RELEASES).index("3.0.0")
    assert all(place not in one["at"] for one in series)
    assert all(len(one["at"]) == len(one["v"]) for one in series)


@pytest.mark.parametrize(
    ("metric", "scenario", "backend", "best"),
    [
        ("cache_misses", "warm_disk", "NUMBA", 0),
        ("cache_misses", "cold", "NUMBA", None),
        ("cache_misses", "warm_process", "NUMBA_NO_CACHE", None),
        ("wrong_results", "cold", "C", 0),
        ("files_leaked", "warm_disk", "NUMBA", None),
        ("functions_compiled", "warm_disk", "NUMBA", None),
    ],
)
def test_what_a_count_should_be(metric: str, scenario: str, backend: str, best: int | None) -> None:
    cell = Cell("radon", scenario, backend, "fork")
    frame = factory.as_frame([factory.row(cell, metric, 1.0)])
    site = observed(frame)
    verdicts = site.verdicts_on(site.tracks[0])
    assert verdicts.best == best
    assert verdicts.wrong.tolist() == [best is not None]
    (series,) = data(frame)["series-"].values()
    assert series["expected"] == best


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_six_digits_are_kept(values: list[float]) -> None:
    found = significant(np.array(values))
    for value, rounded in zip(values, found.tolist(), strict=True):
        assert math.isclose(value, rounded, rel_tol=6e-6, abs_tol=1e-300)


def test_what_is_no_number_stays_so() -> None:
    assert np.isnan(significant(np.array([np.nan])))[0]
    assert significant(np.array([0.0, 123456789.5])).tolist() == [0.0, 123457000.0]
    assert json.dumps(significant(np.array([0.25141999999])).tolist()) == "[0.25142]"


def test_a_count_keeps_all_its_digits() -> None:
    counts = [1_234_567.0, 1_234_568.0, -2_478_987_338.0, 2.0**53 - 1]
    assert significant(np.array(counts)).tolist() == counts


def test_a_subject_that_several_lines_have_is_written_once() -> None:
    rows = factory.frame().to_dict("records")
    found = data(factory.as_frame([*rows, *({**row, "machine": "other"} for row in rows)]))
    one, other = (line["subjects"] for line in found["lines"]["lines"])
    commits = found["subjects"]["commit"]
    assert len(one) == len(other) == len(factory.RELEASES)
    assert len(commits) == len(set(commits)) == len({*one, *other})
    dates = [found["subjects"]["date"][k] for k in one]
    assert dates == sorted(dates)


def test_series_that_are_shown_together_are_in_one_file() -> None:
    """The first digits of an id are those of its family, whatever else there is."""
    found = data()
    index = found["index"]
    families = {
        (name.split()[1], metric): id_[:4]
        for name, metric, id_ in zip(index["name"], index["metric"], index["id"], strict=True)
    }
    ids = zip(index["name"], index["metric"], index["id"], strict=True)
    assert all(id_.startswith(families[name.split()[1], metric]) for name, metric, id_ in ids)


@given(st.integers(-307, 307), st.floats(1, 9.99))
def test_six_digits_are_those_of_a_power_of_ten(exponent: int, digits: float) -> None:
    value = digits * 10.0**exponent
    whole = value.is_integer() and value < 2**53
    expected = value if whole else float(f"{value:.6g}")
    assert significant(np.array([value]))[0] == pytest.approx(expected, rel=1e-12)
