"""How fast the tool itself is. `make bench` runs these; nothing here asserts a time.

The results directory is synthetic (tests/factories.py): 17 releases with the whole matrix, as
many samples as the committed results have.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from observatory.analyze.frame import frame
from observatory.app.observed import site_data
from observatory.app.results import Reading, read
from observatory.benchmarks.catalogue import Cell, Measure, cells, metrics_of
from observatory.dashboard.site import build
from observatory.store.asv.files import project, write_benchmarks
from observatory.store.journal.writer import Journal
from observatory.store.reading.read import read_results
from observatory.store.records.sample import Sample
from tests.factories import LATER, RUN, WARM, header, journal, ledger, sample
from tests.factories_frame import RELEASES

ROOT = Path(__file__).parents[2]
SUBJECTS = ("2.35.0", *RELEASES)
PASSES: tuple[tuple[Measure, int], ...] = (("counting", 1), ("tracing", 1), ("timing", 3))
LEDGER = ledger(*(f"Composite{number}" for number in range(114)))


def taken(cell: Cell, measure: Measure, scale: float) -> Sample:
    """A sample with all the metrics of its pass, and a ledger of the usual length if counting."""
    metrics = {
        metric.name: scale * (1.0 if metric.kind == "noisy" else 100)
        for metric in metrics_of(cell.scenario, cell.launch)
        if metric.measure == measure and metric.name not in ("wrong_results", "crashed")
    }
    return sample(cell, measure, metrics, ledger=LEDGER if measure == "counting" else None)


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """17 releases in a results directory as `observatory run` writes it."""
    directory = tmp_path_factory.mktemp("speed") / "results"
    for age, label in enumerate(SUBJECTS):
        date = datetime(2025, 10, 1 + age, tzinfo=UTC)
        samples = [
            taken(cell, measure, 1 + age / 10 + number / 100)
            for cell in cells()
            for measure, repeats in PASSES
            for number in range(repeats)
        ]
        project(directory, journal(directory, samples, RUN, header(label, date=date)).read())
    write_benchmarks(directory, ROOT / "benchmarks")
    return directory


def started(*command: str) -> None:
    """Run a whole process of this environment to its end, its bytecode cached as a user's is."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.DEVNULL, check=True)


@pytest.mark.benchmark(group="start of a command")
def test_observatory_help(benchmark: BenchmarkFixture) -> None:
    benchmark(started, str(Path(sys.executable).with_name("observatory")), "--help")


@pytest.mark.benchmark(group="start of a command")
def test_sample_help(benchmark: BenchmarkFixture) -> None:
    benchmark(started, sys.executable, "-m", "benchmarks.sample", "--help")


@pytest.mark.benchmark(group="17 releases")
def test_read_results_and_make_the_frame(benchmark: BenchmarkFixture, results: Path) -> None:
    found: pd.DataFrame = benchmark(lambda: frame(read_results(results)))
    assert found["subject"].nunique() == 17


@pytest.mark.benchmark(group="17 releases")
def test_read_them_again_from_the_cache(benchmark: BenchmarkFixture, results: Path) -> None:
    read(results)
    found: Reading = benchmark(read, results)
    assert found.frame["subject"].nunique() == 17
    assert found.problems == ()


@pytest.mark.benchmark(group="17 releases")
def test_read_decide_and_build_the_site(
    benchmark: BenchmarkFixture, results: Path, tmp_path: Path
) -> None:
    page: Path = benchmark(lambda: build(site_data([results])[0], tmp_path / "html"))
    assert page.stat().st_size > 10_000


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Journal]:
    """A journal that already holds a subject's matrix; it must not matter how long it is."""
    made = journal(tmp_path, [taken(cell, "timing", 1.0) for cell in cells()])
    yield made
    assert made.read().problems == []


@pytest.mark.benchmark(group="append one sample to a journal")
def test_append_a_timing_sample(benchmark: BenchmarkFixture, growing: Journal) -> None:
    benchmark(growing.append, LATER, taken(WARM, "timing", 1.0))


@pytest.mark.benchmark(group="append one sample to a journal")
def test_append_a_counting_sample_with_a_new_ledger(
    benchmark: BenchmarkFixture, growing: Journal
) -> None:
    numbers = count()

    def fresh() -> tuple[tuple[str, Sample], dict[str, Any]]:
        named = ledger(*(f"Composite{next(numbers)}" for _ in range(114)))
        return (LATER, sample(WARM, "counting", {"cache_misses": 3}, ledger=named)), {}

    benchmark.pedantic(growing.append, setup=fresh, rounds=50)  # type: ignore[no-untyped-call]
