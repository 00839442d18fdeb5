"""pytest-benchmark itself measures, and asv 0.6.6 itself loads what was imported of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from asv.benchmarks import Benchmarks
from asv.commands.show import Show
from asv.config import Config
from asv.results import iter_results

from observatory.analyze.frame import frame
from observatory.store.asv.imported import Options, import_file
from observatory.store.reading.read import read_results

TESTS = """
import pytest

@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize("kind", ["'quoted'", "<b>"])
def test_sum(benchmark, n, kind):
    benchmark.extra_info["size"] = n
    benchmark.pedantic(sum, (range(n),), rounds=9, iterations=2)

class TestOnce:
    def test_one(self, benchmark):
        benchmark.pedantic(sum, (range(10),), rounds=1)
"""
COMMIT = "c0ffee" + "0" * 34


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pytest-benchmark saves, with the data of all rounds."""
    where = tmp_path_factory.mktemp("measured")
    (where / "test_it.py").write_text(TESTS)
    # This test may itself run beside others, where pytest-benchmark measures nothing.
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--benchmark-json",
         "saved.json", "test_it.py"],
        cwd=where, check=True, stdout=subprocess.DEVNULL, env=outside,
    )  # fmt: skip
    return where / "saved.json"


def medians(measured: Path) -> dict[str, float]:
    listed = json.loads(measured.read_text())["benchmarks"]
    return {one["fullname"].partition("::")[2]: one["stats"]["median"] for one in listed}


def test_asv_sees_the_medians(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_file(measured, tmp_path, Options(machine="ci", commit=COMMIT, extra=("size",)))
    conf = Config.from_json({"results_dir": str(tmp_path), "project": "x", "repo": "."})
    benchmarks = Benchmarks.load(conf)
    (found,) = iter_results(str(tmp_path))
    names = {"test_it.test_sum", "test_it.test_sum.track_size", "test_it.TestOnce.test_one"}
    assert found.get_result_keys(benchmarks) == names
    params = benchmarks["test_it.test_sum"]["params"]
    assert params == [["\"'quoted'\"", "'<b>'"], ["10", "20"]]
    expected = medians(measured)
    assert found.get_result_value("test_it.test_sum", params) == [
        expected[f"test_sum[{kind}-{n}]"] for kind in ("'quoted'", "<b>") for n in (10, 20)
    ]
    stats = found.get_result_stats("test_it.test_sum", params)
    assert [(one["repeat"], one["number"]) for one in stats] == [(9, 2)] * 4
    assert all(one["ci_99_a"] <= one["q_25"] <= one["ci_99_b"] for one in stats)
    Show.run(conf, commit=COMMIT)
    assert "test_it.TestOnce.test_one" in capsys.readouterr().out


def test_the_frame_sees_them_too(measured: Path, tmp_path: Path) -> None:
    import_file(measured, tmp_path, Options(machine="ci", commit=COMMIT))
    rows = frame(read_results(tmp_path))
    assert list(rows["scenario"]) == [
        "test_it.TestOnce.test_one",
        "test_it.test_sum(\"'quoted'\", 10)", "test_it.test_sum(\"'quoted'\", 20)",
        "test_it.test_sum('<b>', 10)", "test_it.test_sum('<b>', 20)",
    ]  # fmt: skip
    assert set(rows["unit"]) == {"seconds"}
    assert rows["value"].iloc[0] == medians(measured)["TestOnce::test_one"]
    assert list(rows["n"]) == [1, 9, 9, 9, 9]
