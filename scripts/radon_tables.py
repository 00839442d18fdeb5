"""The radon tables of PyTensor's tests/benchmarks/test_compilation.py, from isolated samples.

    .venv/bin/python scripts/radon_tables.py                     the newest release
    .venv/bin/python scripts/radon_tables.py --subject 2.35.1    any subject of `observatory run`
    .venv/bin/python scripts/radon_tables.py --python env/bin/python    an environment you have

Three tables, printed and stored by pytest-benchmark, whose options are accepted as well
(--benchmark-json, --benchmark-save, -k). A round is one sample of `python -m benchmarks.sample` in
a process and a cache directory of its own, and its duration is what that process measured: the
clock of pytest-benchmark is moved by it and measures nothing here.

Two differences from the original: the first, cold build is not among the rounds of "compile
repeatedly" (it is the scenario `cold`), and data and point are the observatory's own.
OBSERVATORY_ROUNDS sets the rounds (default 3; variants always 1).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.catalogue import METRICS, Cell
from observatory.run.environments import EnvironmentMakingError
from observatory.run.interpreters import NoInterpreterError
from observatory.run.local import environment_of, local_subjects
from observatory.run.releases import ReleasesError
from observatory.run.sources import SubjectError
from observatory.run.uv import UvError
from observatory.store.records.sample import Sample

ROOT = Path(__file__).resolve().parents[1]
STATE = ROOT / ".observatory"
PYTHON, ROUNDS = "OBSERVATORY_PYTHON", "OBSERVATORY_ROUNDS"
LAUNCH = "spawn"

_ASK = """
import platform
from importlib.metadata import distributions
found = {d.metadata["Name"]: d.version for d in distributions()}
print(f"PyTensor {found.get('pytensor')}, numba {found.get('numba')},",
      f"Python {platform.python_version()}")
"""

COMPILE = {"C": "C", "CVM": "C_VM", "NUMBA no cache": "NUMBA_NO_CACHE", "NUMBA cache": "NUMBA"}
CALL = {"C": "C", "CVM": "C_VM", "CVM_NOGC": "C_VM_NOGC", "NUMBA": "NUMBA"}


@dataclass
class Clock:
    """A clock that moves only by what was measured elsewhere; in seconds."""

    now: float = 0.0

    def measured_seconds(self) -> float:
        """The time: pytest-benchmark calls this before and after each round."""
        return self.now

    def rewind(self) -> None:
        """Begin a round at 0, so that the difference is the duration to the last bit."""
        self.now = 0.0


CLOCK = Clock()


@dataclass
class Radon:
    """Samples of the radon model in one environment under test."""

    python: Path
    scratch: Path
    versions: str
    """For people."""
    _filled: dict[str, Path] = field(default_factory=dict)

    def sample(self, cell: Cell, *options: str) -> Sample:
        """Take one sample; anything but a good and right one ends the test and says why."""
        words = ("--model", "--scenario", "--backend", "--launch")
        values = (cell.model, cell.scenario, cell.backend, cell.launch)
        asked = [word for pair in zip(words, values, strict=True) for word in pair]
        done = subprocess.run(
            [str(self.python), "-m", "benchmarks.sample", *asked, *options],
            cwd=ROOT,
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTHON")},
            capture_output=True,
            text=True,
            check=False,
        )
        if not done.stdout:
            pytest.fail(f"{cell} gave no record: {done.stderr[-2000:]}", pytrace=False)
        taken = Sample.model_validate_json(done.stdout)
        if taken.status == "unavailable" and taken.failure is not None:
            pytest.skip(f"{cell}: {taken.failure.message}")
        if taken.status != "ok" and taken.failure is not None:
            pytest.fail(f"{cell}: {taken.failure.message}", pytrace=False)
        if taken.metrics["wrong_results"]:
            pytest.fail(f"{cell} returned wrong results: {taken.checks}", pytrace=False)
        return taken

    def filled(self, cell: Cell) -> Path:
        """A cache that a cold build of the cell's backend has filled, made once."""
        backend = cell.cache_backend
        if backend not in self._filled:
            where = self.scratch / backend
            self.sample(Cell(cell.model, "cold", backend, cell.launch), "--keep-cache", str(where))
            self._filled[backend] = where
        return self._filled[backend]

    def rounds(self, cell: Cell, number: int) -> list[Sample]:
        """The samples of one row."""
        options = () if cell.scenario == "variants" else ("--cache", str(self.filled(cell)))
        return [self.sample(cell, *options) for _ in range(number)]


@pytest.fixture(scope="session")
def radon(tmp_path_factory: pytest.TempPathFactory) -> Radon:
    """The environment under test: of OBSERVATORY_PYTHON, or that of the newest release."""
    given = os.environ.get(PYTHON)
    python = Path(given) if given else python_of("newest")
    return Radon(python, tmp_path_factory.mktemp("filled"), versions_in(python))


Row = Callable[[str, Cell, str, int], None]


@pytest.fixture
def row(radon: Radon, benchmark: BenchmarkFixture) -> Row:
    """Make one row of a table: title, cell, metric in seconds, number of rounds."""

    def make(title: str, cell: Cell, metric: str, number: int) -> None:
        taken = radon.rounds(cell, number)
        durations = iter([sample.metrics[metric] for sample in taken])

        def replay() -> None:
            CLOCK.now += next(durations)

        benchmark.group = f"radon: {title}, {radon.versions}"
        benchmark.extra_info.update(
            {"cell": vars(cell), "metric": metric, "meaning": METRICS[metric].meaning}
            | taken[-1].environment
        )
        benchmark.pedantic(replay, setup=CLOCK.rewind, rounds=number)  # type: ignore[no-untyped-call]

    return make


in_their_clock = pytest.mark.benchmark(timer=CLOCK.measured_seconds)


@in_their_clock
@pytest.mark.parametrize("backend", COMPILE.values(), ids=COMPILE)
def test_compile_repeatedly(backend: str, row: Row) -> None:
    """The second build of one model in a process; the disk caches are filled."""
    row(
        "compile repeatedly",
        Cell("radon", "warm_process", backend, LAUNCH),
        "compile_time",
        rounds(),
    )


@in_their_clock
@pytest.mark.parametrize("backend", COMPILE.values(), ids=COMPILE)
def test_compile_variants(backend: str, row: Row) -> None:
    """The eight variants one after another, after the base, from empty caches."""
    row("compile eight variants", Cell("radon", "variants", backend, LAUNCH), "compile_time", 1)


@in_their_clock
@pytest.mark.parametrize("backend", CALL.values(), ids=CALL)
def test_call(backend: str, row: Row) -> None:
    """One evaluation of logp and gradient; a round is the median within one process."""
    row("call by backend", Cell("radon", "call", backend, LAUNCH), "call_time", rounds())


def rounds() -> int:
    """Samples a row."""
    return int(os.environ.get(ROUNDS, "3"))


def versions_in(python: Path) -> str:
    """What is in the environment, asked without importing it. Raises CalledProcessError."""
    done = subprocess.run([python, "-I", "-c", _ASK], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def python_of(text: str) -> Path:
    """The Python of a subject's environment, made if need be; errors as of `observatory run`."""
    subjects = local_subjects(STATE)
    return environment_of(subjects.parse(text), subjects, STATE).python


def main() -> int:
    """Run this file under pytest; its exit code, or 2 where there is no environment to measure."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog="Further options are those of pytest and pytest-benchmark.",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--subject", default="newest", help="as in `observatory run --subject`")
    group.add_argument("--python", type=Path, help="the Python of an environment with PyTensor")
    chosen, others = parser.parse_known_args()
    try:
        python = chosen.python or python_of(chosen.subject)
    except (
        EnvironmentMakingError,
        NoInterpreterError,
        ReleasesError,
        SubjectError,
        UvError,
    ) as why:
        print(f"radon_tables: {why}", file=sys.stderr)
        return 2
    # Absolute without following links: the Python of an environment is a link.
    python = python.absolute()
    try:
        versions_in(python)
    except (OSError, subprocess.CalledProcessError) as why:
        print(f"radon_tables: {python} is no Python that runs: {why}", file=sys.stderr)
        return 2
    os.environ[PYTHON] = str(python)
    ours = ["-o", "addopts=", "--import-mode=importlib", "-q", "-p", "no:cacheprovider"]
    shown = ["--benchmark-only", "--benchmark-columns=min,mean,max,rounds", "--benchmark-sort=name"]
    return pytest.main([__file__, *ours, *shown, "--benchmark-name=short", *others])


if __name__ == "__main__":
    sys.exit(main())
