"""`observatory run` as a whole: recorded, interrupted, resumed, exported, shown."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from observatory.benchmarks.catalogue import METRICS
from observatory.run.environments import Environment
from observatory.store.journal.reader import read_journal
from tests.integration.conftest import STATE
from tests.integration.test_sample import leftovers, processes_of, wait_until

pytestmark = pytest.mark.integration

Command = Callable[..., subprocess.CompletedProcess[str]]
OPTIONS = ("--preset", "quick", "--scenario", "warm_disk", "--backend", "C", "--machine", "test")


@dataclass(frozen=True)
class Interrupted:
    """What a run left that Ctrl-C has ended."""

    command: list[str]
    results: Path
    status: int
    stderr: str
    samples: int
    processes: list[int]
    directories: list[Path]


@pytest.fixture(scope="module")
def interrupted(newest: Environment, tmp_path_factory: pytest.TempPathFactory) -> Interrupted:
    """Warm builds of the newest release, timed and counted, that end after the first sample."""
    scratch = tmp_path_factory.mktemp("run")
    results = scratch / "results"
    command = [sys.executable, "-m", "observatory", "run", *OPTIONS, "--results", str(results)]
    command += ["--subject", newest.versions.pytensor]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=STATE.parent,
        env={**newest.variables(), "PYTHONPATH": "", "TMPDIR": str(scratch)},
    )  # fmt: skip
    wait_until(lambda: count(results) >= 1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    return Interrupted(
        command, results, process.returncode, stderr, count(results), processes_of(scratch),
        leftovers(scratch),
    )  # fmt: skip


@pytest.fixture(scope="module")
def measured(interrupted: Interrupted) -> Path:
    """The results of that run, resumed: what other tests look at is as good as any."""
    command = [*interrupted.command, "--resume"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=STATE.parent)
    assert done.returncode == 0, done.stderr
    assert f"Results: {interrupted.results}" in done.stdout
    return interrupted.results


def test_an_interrupted_run_loses_nothing_and_leaves_nothing_behind(
    interrupted: Interrupted,
) -> None:
    assert interrupted.status == 130
    assert "every finished sample is recorded" in interrupted.stderr
    assert interrupted.processes == []
    assert interrupted.directories == []
    assert 1 <= interrupted.samples < 6


def test_a_resumed_run_takes_what_is_missing(measured: Path) -> None:
    (journal,) = measured.glob("samples/test/*.jsonl")
    entries = read_journal(journal).entries
    assert len({entry.run for entry in entries}) == 1
    # Two fillers, two warm counting and two warm timing samples; a filler whose cache the
    # interruption kept is not taken again.
    assert len(entries) == 6


def test_a_run_is_a_tidy_frame(measured: Path, observatory: Command) -> None:
    done = observatory("export", "--results", str(measured))
    frame = pd.read_csv(io.StringIO(done.stdout))
    assert list(frame.columns) == [
        "subject", "pytensor", "numba", "python", "machine", "model", "scenario", "backend",
        "launch", "metric", "unit", "kind", "value", "n", "ci_low", "ci_high", "date",
    ]  # fmt: skip
    warm = frame[frame["scenario"] == "warm_disk"]
    assert set(warm["launch"]) == {"fork", "spawn"}
    misses = warm[warm["metric"] == "cache_misses"]["value"].tolist()
    assert misses == [0, 0]
    times = warm[warm["metric"] == "compile_time"]
    assert (times["value"] > 0).all()
    assert set(times["unit"]) == {"seconds"}
    assert set(warm["kind"]) == {metric.kind for metric in METRICS.values()}


def test_a_cell_that_no_pass_took_is_not_in_the_frame_as_zero(
    measured: Path, observatory: Command
) -> None:
    done = observatory("export", "--results", str(measured), "--metric", "cache_misses")
    frame = pd.read_csv(io.StringIO(done.stdout))
    assert set(frame["backend"]) == {"C"}


def test_the_page_is_built_from_a_run(measured: Path, observatory: Command, tmp_path: Path) -> None:
    out = tmp_path / "html"
    assert observatory("dashboard", "--results", str(measured), "--out", str(out)).returncode == 0
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "no wrong results" in page
    assert "warm_disk" in page


def count(results: Path) -> int:
    return sum(len(read_journal(path).entries) for path in results.glob("samples/*/*.jsonl"))
