"""asv 0.6.6 itself loads what we write and sees the same values."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from asv.benchmarks import Benchmarks
from asv.commands.show import Show
from asv.config import Config
from asv.results import (
    Results,
    format_benchmark_result,
    get_filename,
    iter_results,
    iter_results_for_machine_and_hash,
)

from observatory.benchmarks.catalogue import METRICS, SCENARIOS, Cell
from observatory.store.asv.files import project, write_benchmarks
from observatory.store.asv.names import (
    PARAM_NAMES,
    asv_params,
    benchmark_name,
    parse_params,
    scenario_metrics,
)
from observatory.store.records import layout
from tests.factories import WARM, failed, journal, sample, subject

CALL = Cell("radon", "call", "C_VM_NOGC", "spawn")
SUITES = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    samples = [
        *(sample(metrics={"compile_time": t, "peak_rss": 300_000_000}) for t in (0.3, 0.2, 0.25)),
        *(sample(measure="counting", metrics={"cache_misses": n}) for n in (1, 1)),
        sample(CALL, metrics={"call_time": 4.9e-6}),
        failed(Cell("radon", "cold", "C", "fork")),
    ]
    project(tmp_path, journal(tmp_path, samples).read())
    return tmp_path


def value_at(file: Results, cell: Cell, metric: str) -> float | None:
    name = benchmark_name(cell.scenario, metric)
    params = asv_params(cell.scenario)
    values = file.get_result_value(name, params)
    cells = [parse_params(cell.scenario, row) for row in itertools.product(*params)]
    found: float | None = values[cells.index(cell)]
    return found


def test_asv_finds_the_file_and_nothing_else(results: Path) -> None:
    assert [file.commit_hash for file in iter_results(str(results))] == [subject().commit]
    found = iter_results_for_machine_and_hash(str(results), "bench", subject().commit[:5])
    assert len(list(found)) == 1


def test_asv_sees_the_values_that_were_measured(results: Path) -> None:
    (file,) = iter_results(str(results))
    assert value_at(file, WARM, "compile_time") == 0.25
    assert value_at(file, WARM, "cache_misses") == 1
    assert value_at(file, CALL, "call_time") == 4.9e-6
    assert value_at(file, Cell("radon", "cold", "C", "fork"), "crashed") == 1
    assert value_at(file, Cell("radon", "cold", "C", "spawn"), "crashed") is None


def test_asv_sees_samples_and_statistics(results: Path) -> None:
    (file,) = iter_results(str(results))
    params = asv_params("warm_disk")
    name = benchmark_name("warm_disk", "compile_time")
    assert file.get_result_samples(name, params)[4] == [0.3, 0.2, 0.25]
    assert file.get_result_stats(name, params)[4]["repeat"] == 3


def test_asv_formats_times_and_bytes_for_people(results: Path) -> None:
    (file,) = iter_results(str(results))
    for metric, shown in (("compile_time", "250±30ms"), ("peak_rss", "300±0M")):
        benchmark = {
            "name": benchmark_name("warm_disk", metric),
            "params": asv_params("warm_disk"),
            "param_names": list(PARAM_NAMES),
            "unit": METRICS[metric].unit,
        }
        _, details = format_benchmark_result(file, benchmark)
        assert shown in details


def test_the_file_name_is_the_one_that_asv_would_give() -> None:
    many = tuple(f"package{i}=={i}.0" for i in range(20))
    for extras in ((), ("numba==0.66.0",), many):
        named = subject(extras=extras)
        expected = get_filename("bench", named.commit, named.env_name)
        assert str(layout.asv_path(Path(), "bench", named)) == expected


def test_the_suites_are_the_benchmarks_that_the_files_speak_of(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not (SUITES / "compile.py").is_file() or not (SUITES / "call.py").is_file():
        pytest.skip("benchmarks/compile.py and benchmarks/call.py are not written yet")
    write_benchmarks(results, SUITES)
    listed = json.loads((results / "benchmarks.json").read_text())
    version = listed.pop("version")
    assert version == Benchmarks.api_version
    for scenario in SCENARIOS:
        for metric in scenario_metrics(scenario):
            found = listed.pop(benchmark_name(scenario, metric.name))
            assert (found["params"], found["param_names"], found["unit"], found["version"]) == (
                asv_params(scenario), list(PARAM_NAMES), metric.unit, "1",
            )  # fmt: skip
    assert listed == {}
    Show.run(Config.from_json({"results_dir": str(results), "project": "x", "repo": "."}))
    assert subject().commit[:8] in capsys.readouterr().out
