"""Plain asv, as a user runs it, over a release of the history and over results of our own.

What is asserted of asv itself is what the suites rely on and asv does not promise: the dictionary
that a `track_*` may return, the setup of a single function, and what "n/a" is in a result file.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from asv import util
from asv.results import Results, iter_results

from observatory.analyze.frame import frame
from observatory.benchmarks.catalogue import METRICS, TOLD_BY_NUMBA, Cell, metrics_of
from observatory.run.environments import Environment
from observatory.run.subjects import Subjects
from observatory.store.asv.files import project, write_benchmarks
from observatory.store.asv.names import asv_params, benchmark_name, parse_params, scenario_metrics
from observatory.store.reading.read import read_results
from tests.factories import WARM, header, journal, sample
from tests.integration.conftest import Bench

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
SUITES = ROOT / "benchmarks"
CALL = Cell("radon", "call", "C", "fork")
MEASURED = (Cell("radon", "warm_disk", "C", "fork"), CALL)
UNMEASURED = (Cell("radon", "warm_disk", "C", "spawn"), Cell("radon", "call", "C", "spawn"))
NARROWED = {"OBSERVATORY_BACKENDS": "C", "OBSERVATORY_LAUNCHES": "fork"}
_ROUNDED = 1e-4
SELECTED = r"^({}).*\('radon', 'C', "
SPAWNED = "functions_compiled", "wrong_results", "files_leaked", "call_time", "peak_rss"
"""Metrics of a call that asv also takes in a process for each."""


@dataclass(frozen=True)
class Asv:
    """The command asv with a configuration made from asv.releases.conf.json."""

    directory: Path
    machine: str
    variables: dict[str, str]

    def __call__(self, results: Path, *args: str, **more: str) -> str:
        """Run a sub-command on a results directory; what it printed, if it ended well."""
        config = util.load_json(str(ROOT / "asv.releases.conf.json"), js_comments=True)
        # What is imported of an environment that is used once is less than all that it holds.
        (install,) = config["install_command"]
        assert "--compile-bytecode" in install
        config |= {
            "install_command": [install.replace("--compile", "--no-compile")],
            "repo": self.variables["RELEASES"],
            "pythons": [self.variables["MINOR"]],
            "benchmark_dir": str(SUITES),
            "env_dir": str(self.directory / "env"),
            "results_dir": str(results),
            "html_dir": str(results.with_name(f"{results.name}-html")),
        }
        file = self.directory / f"{results.name}.conf.json"
        file.write_text(json.dumps(config))
        done = subprocess.run(
            ["asv", "--config", str(file), *args],
            cwd=self.directory,
            env=self.variables | more,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


@pytest.fixture(scope="module")
def commits(subjects: Subjects) -> dict[str, str]:
    subjects.history.build()
    return dict(subjects.history.commits)


@pytest.fixture(scope="module")
def asv(subjects: Subjects, newest: Environment, tmp_path_factory: pytest.TempPathFactory) -> Asv:
    """asv with a home of its own, so that the user's ~/.asv-machine.json stays as it is."""
    directory = tmp_path_factory.mktemp("asv")
    minor = newest.versions.python.rpartition(".")[0]
    tools, python = Path(sys.executable).parent, subjects.found.of(minor).path.parent
    cache = subprocess.run([tools / "uv", "cache", "dir"], capture_output=True, text=True)
    variables = {
        **os.environ,
        **NARROWED,
        "HOME": str(directory),
        "MINOR": minor,
        "RELEASES": str(subjects.history.build()),
        "PATH": os.pathsep.join([str(tools), str(python), os.environ["PATH"]]),
        "UV_CACHE_DIR": cache.stdout.strip(),
    }
    made = Asv(directory, "bench", variables)
    made(directory / "none", "machine", "--machine", made.machine, "--yes")
    return made


@pytest.fixture(scope="module")
def run(asv: Asv, newest: Environment, commits: dict[str, str]) -> Callable[..., Path]:
    """Have asv measure the newest release under a launch method of its own."""

    def made(method: str, rounds: int, *suites: str) -> Path:
        results = asv.directory / method
        commit = commits[newest.versions.pytensor]
        command = ("run", f"{commit}^!", "--machine", asv.machine, "--record-samples")
        said = asv(results, *command, "--launch-method", method,
                   "--bench", SELECTED.format("|".join(suites)),
                   OBSERVATORY_ROUNDS=str(rounds))  # fmt: skip
        assert "failed" not in said
        return results

    return made


@pytest.fixture(scope="module")
def forked(run: Callable[..., Path]) -> Path:
    return run("forkserver", 2, r"compile\.WarmDisk\.", r"call\.Call\.")


@pytest.fixture(scope="module")
def spawned(run: Callable[..., Path]) -> Path:
    """Calls alone: what a launch method could change, it changes in every suite."""
    return run("spawn", 1, rf"call\.Call\.track_({'|'.join(SPAWNED)})\b")


@pytest.fixture(scope="module")
def ours(commits: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results directory such as `observatory run` writes, of the two last releases."""
    results = tmp_path_factory.mktemp("ours") / "results"
    for label, seconds in zip(list(commits)[-2:], (0.4, 0.2), strict=True):
        taken = [
            *(sample(metrics={"compile_time": seconds + wait}) for wait in (0.0, 0.01, 0.02)),
            sample(measure="counting", metrics={"cache_misses": 3}),
        ]
        under = header(label, commit=commits[label])
        project(results, journal(results, taken, under=under).read())
    write_benchmarks(results, SUITES)
    return results


def only_file(results: Path) -> Results:
    (file,) = iter_results(str(results))
    return file


def at(recorded: list[Any], cell: Cell) -> Any:
    """The item of one cell, in a list that asv keeps for a benchmark."""
    rows = itertools.product(*asv_params(cell.scenario))
    return recorded[[parse_params(cell.scenario, row) for row in rows].index(cell)]


def value(results: Path, cell: Cell, metric: str) -> Any:
    name = benchmark_name(cell.scenario, metric)
    return at(only_file(results).get_result_value(name, asv_params(cell.scenario)), cell)


def exact_values(results: Path, *cells: Cell) -> dict[tuple[Cell, str], Any]:
    return {
        (cell, metric.name): value(results, cell, metric.name)
        for cell in cells
        for metric in metrics_of(cell.scenario, cell.launch)
        if metric.kind == "exact"
    }


def test_asvs_own_launch_method_changes_no_exact_metric(forked: Path, spawned: Path) -> None:
    values = {
        place: number for place, number in exact_values(forked, CALL).items() if place[1] in SPAWNED
    }
    assert {"functions_compiled", "wrong_results", "files_leaked"} <= {name for _, name in values}
    assert all(isinstance(number, int) for number in values.values())
    assert {place: value(spawned, *place) for place in values} == values


def test_what_asv_records_is_what_the_primitive_gives(forked: Path, bench: Bench) -> None:
    recorded = exact_values(forked, *MEASURED)
    assert {"cache_misses", "wrong_results", "files_leaked"} <= {name for _, name in recorded}
    for cell in MEASURED:
        cache = str(bench.cache("cold", cell.backend))
        taken = bench.taken(cell.scenario, cell.backend, launch=cell.launch, cache=cache)
        given = taken.metrics
        for metric in metrics_of(cell.scenario, cell.launch):
            if metric.kind == "exact":
                assert recorded[cell, metric.name] == given[metric.name], (cell, metric.name)


@pytest.mark.parametrize("cell", MEASURED, ids=str)
def test_asv_records_samples_and_statistics_of_what_a_track_returns(
    forked: Path, cell: Cell
) -> None:
    file, params = only_file(forked), asv_params(cell.scenario)
    for metric in metrics_of(cell.scenario, cell.launch):
        if metric.kind != "noisy":
            continue
        name = benchmark_name(cell.scenario, metric.name)
        samples = at(file.get_result_samples(name, params), cell)
        stats = at(file.get_result_stats(name, params), cell)
        assert len(samples) == 2, name
        assert value(forked, cell, metric.name) == pytest.approx(median(samples))
        assert (stats["repeat"], stats["number"]) == (2, 1)
        # asv rounds the ends to five digits, so that equal samples may lie just beyond them.
        low, high = stats["ci_99_a"] * (1 - _ROUNDED), stats["ci_99_b"] * (1 + _ROUNDED)
        assert low <= min(samples) <= max(samples) <= high


def test_a_single_sample_is_recorded_with_an_interval_that_has_no_end(spawned: Path) -> None:
    stats = only_file(spawned).get_result_stats(
        benchmark_name("call", "call_time"), asv_params("call")
    )
    found = at(stats, CALL)
    assert found["repeat"] == 1
    assert (found["ci_99_a"], found["ci_99_b"]) == (-math.inf, math.inf)


def test_an_unmeasured_cell_is_not_applicable_and_no_failure(forked: Path) -> None:
    # asv writes NaN for n/a, and null for a failure and for what was not selected.
    for cell in UNMEASURED:
        for metric in scenario_metrics(cell.scenario):
            assert math.isnan(value(forked, cell, metric.name)), (cell, metric.name)


@pytest.mark.parametrize("cell", MEASURED, ids=str)
def test_a_metric_that_a_launch_does_not_have_is_not_applicable_there(
    forked: Path, cell: Cell
) -> None:
    asked = {metric.name for metric in metrics_of(cell.scenario, cell.launch)}
    others = {metric.name for metric in scenario_metrics(cell.scenario)} - asked
    assert others == {"import_time"}
    assert math.isnan(value(forked, cell, "import_time"))
    # Plain asv takes work only where OBSERVATORY_WORK asks for it, and C is not compiled by numba.
    absent = {name for name in asked if METRICS[name].measure == "work" or name in TOLD_BY_NUMBA}
    assert all(math.isnan(value(forked, cell, name)) for name in absent)
    assert all(math.isfinite(value(forked, cell, name)) for name in asked - absent)


def test_we_read_what_plain_asv_measured(spawned: Path) -> None:
    rows = frame(read_results(spawned))
    mine = rows[(rows["scenario"] == CALL.scenario) & (rows["launch"] == CALL.launch)]
    read = dict(zip(mine["metric"], mine["value"], strict=True))
    for name in ("functions_compiled", "wrong_results", "peak_rss"):
        assert read[name] == value(spawned, CALL, name)


def test_asv_shows_compares_and_publishes_what_it_measured(
    asv: Asv, forked: Path, newest: Environment, commits: dict[str, str]
) -> None:
    commit = commits[newest.versions.pytensor]
    shown = asv(forked, "show", commit)
    assert "compile.WarmDisk.track_cache_misses" in shown
    assert "call.Call.track_call_time" in shown
    assert "compile.WarmDisk.track_compile_time" in asv(forked, "compare", commit, commit)
    asv(forked, "publish")
    (seconds,) = published(forked, benchmark_name("warm_disk", "compile_time"))
    assert at(seconds, MEASURED[0]) == pytest.approx(value(forked, MEASURED[0], "compile_time"))


def test_asv_shows_compares_and_publishes_what_the_observatory_wrote(
    asv: Asv, ours: Path, commits: dict[str, str]
) -> None:
    old, new = list(commits.values())[-2:]
    assert "210±" in asv(ours, "show", new)
    compared = asv(ours, "compare", old, new)
    assert "compile.WarmDisk.track_compile_time('radon', 'NUMBA', 'fork')" in compared
    said = asv(ours, "publish")
    assert "Couldn't find" not in said, said
    seconds = published(ours, benchmark_name("warm_disk", "compile_time"))
    assert [at(release, WARM) for release in seconds] == pytest.approx([0.41, 0.21])
    misses = published(ours, benchmark_name("warm_disk", "cache_misses"))
    assert [at(release, WARM) for release in misses] == [3, 3]


def published(results: Path, name: str) -> list[Any]:
    """The values of a benchmark in asv's page, oldest commit first: a list of cells each."""
    html = results.with_name(f"{results.name}-html")
    index = json.loads((html / "index.json").read_text())
    scenario = "call" if name.startswith("call.") else "warm_disk"
    assert index["benchmarks"][name]["unit"] == METRICS[name.rpartition("track_")[2]].unit
    assert index["benchmarks"][name]["params"] == asv_params(scenario)
    (graph,) = (file for file in html.glob(f"graphs/**/{name}.json") if "summary" not in str(file))
    return [values for _, values in sorted(json.loads(graph.read_text()))]
