"""Real environments under test, made once by uv under `.observatory/` and shared by the tests.

So are samples that are only looked at: a build from an empty cache takes as long as fifty unit
tests, and half of the tests would take the same one.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from observatory.benchmarks.catalogue import SIBLINGS
from observatory.run import local
from observatory.run.environments import Environment, Environments
from observatory.run.local import local_subjects
from observatory.run.subjects import Subjects
from observatory.run.uv import RealUv
from observatory.store.base.locking import locked
from observatory.store.records.sample import Sample
from scripts.mutants import kept_compiler

STATE = Path(__file__).resolve().parents[2] / ".observatory"
OF_TESTS = STATE / "tests"
"""The state with the environments of a few samples each; whoever measures uses those of `STATE`."""


class Uncompiled(RealUv):
    """A uv that leaves bytecode to the first import: a tenth of what compiling all of it costs."""

    def __call__(
        self, *args: str, stdin: str = "", timeout: float = 600.0, held: Sequence[int] = ()
    ) -> str:
        kept = [word for word in args if word != "--compile-bytecode"]
        return super().__call__(*kept, stdin=stdin, timeout=timeout, held=held)


@dataclass(frozen=True)
class Measured:
    """One sample taken by the primitive: its record, its trace, its exit status."""

    record: dict[str, Any]
    trace: list[dict[str, Any]]
    status: int
    stderr: str

    @property
    def metrics(self) -> dict[str, Any]:
        metrics: dict[str, Any] = self.record["metrics"]
        return metrics


@dataclass(frozen=True)
class Shelf:
    """What is made once and then only looked at, by the tests of all workers."""

    directory: Path

    def made(self, name: str, make: Callable[[Path], object]) -> Path:
        """The directory of this name, filled by whoever asks first; others wait for it."""
        where, ready = self.directory / name, self.directory / f"{name}.ready"
        with locked(self.directory / f"{name}.lock"):
            if not ready.exists():
                shutil.rmtree(where, ignore_errors=True)  # what a try that failed left behind
                where.mkdir()
                make(where)
                ready.touch()
        return where


@dataclass(frozen=True)
class Bench:
    """The primitive in one environment."""

    environment: Environment
    scratch: Path
    shelf: Shelf
    graphs: tuple[str, ...] = ()
    """Members of the model to build: what eight graphs do to a cache, two do too."""

    def sample(
        self, scenario: str, backend: str, *options: str, env: dict[str, str] | None = None
    ) -> Measured:
        """A sample of this test's own."""
        trace = self.scratch / f"trace-{os.urandom(4).hex()}.jsonl"
        asked = ("--scenario", scenario, "--backend", backend, "--trace", str(trace))
        few = [word for name in self.graphs for word in ("--graph", name)]
        python = str(self.environment.python)
        command = [python, "-m", "benchmarks.sample", *asked, *few, *options]
        variables = {**self.environment.variables(), "TMPDIR": str(self.scratch), **(env or {})}
        done = subprocess.run(
            command, capture_output=True, text=True, env=variables, cwd=self.scratch, check=False
        )
        assert done.stdout, done.stderr
        Sample.model_validate_json(done.stdout)
        events = [json.loads(line) for line in trace.read_text().splitlines()]
        return Measured(json.loads(done.stdout), events, done.returncode, done.stderr)

    def within(self, environment: Environment) -> Bench:
        """The same in another environment."""
        return replace(self, environment=environment)

    def taken(self, scenario: str, backend: str, **options: str) -> Measured:
        """The sample of all tests that ask for the same: counting and forked unless they say."""
        file = self._shelved(scenario, backend, options) / "measured.json"
        return Measured(**json.loads(file.read_text()))

    def cache(self, scenario: str, backend: str, **options: str) -> Path:
        """The cache that such a sample left, cold or of siblings: not to be changed."""
        return self._shelved(scenario, backend, options) / "cache"

    def _shelved(self, scenario: str, backend: str, options: dict[str, str]) -> Path:
        asked = {"launch": "fork", "measure": "counting"} | options
        if scenario == "cold" or scenario in SIBLINGS:
            asked["keep-cache"] = "cache"
        words = [word for name in sorted(asked) for word in (f"--{name}", asked[name])]
        key = repr((str(self.environment.python), self.graphs, scenario, backend, words))

        def take(where: Path) -> None:
            found = replace(self, scratch=where).sample(scenario, backend, *words)
            (where / "measured.json").write_text(json.dumps(asdict(found)))

        return self.shelf.made(hashlib.sha256(key.encode()).hexdigest()[:16], take)


def borrowing(newest: Environment, where: Path) -> tuple[Environment, Path]:
    """An environment with the packages of the newest release, and its own site-packages."""
    RealUv()("venv", "--quiet", "--python", str(newest.python), str(where))
    (site,) = where.glob("lib/python*/site-packages")
    real = site_packages(newest)
    (site / "borrowed.pth").write_text(f"{real}\n")
    return replace(newest, python=where / "bin" / "python"), site


def lend(state: Path, *made: Environment) -> None:
    """Put environments that exist into another state, which knows them by what is in them."""
    (state / "envs").mkdir(parents=True)
    for environment in made:
        where = environment.python.parent.parent
        (state / "envs" / where.name).symlink_to(where)


def site_packages(environment: Environment) -> Path:
    (found,) = environment.python.parent.parent.glob("lib/python*/site-packages")
    return found


def lend_bytecode(compiled: Environment, to: Environment) -> None:
    """Link the bytecode of all modules that uv has linked into both environments."""
    lender, borrower = site_packages(compiled), site_packages(to)
    for bytecode in lender.rglob("__pycache__/*.pyc"):
        module = bytecode.parent.with_name(f"{bytecode.name.rsplit('.', 2)[0]}.py")
        twin, target = (borrower / one.relative_to(lender) for one in (module, bytecode))
        if twin.exists() and twin.samefile(module):
            target.parent.mkdir(exist_ok=True)
            with suppress(FileExistsError):
                target.hardlink_to(bytecode)


@pytest.fixture(autouse=True, scope="session")
def _compiling_once(shelf: Shelf) -> Iterator[None]:
    """Half of the time of these tests was that of g++, which compiled the same code again."""
    compiler = shelf.made("compiler", kept_compiler.make)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{compiler}:{os.environ['PATH']}")
        yield


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Shelf:
    base = tmp_path_factory.getbasetemp()
    directory = (base if worker_id == "master" else base.parent) / "shelf"
    directory.mkdir(exist_ok=True)
    return Shelf(directory)


@pytest.fixture(scope="session")
def subjects() -> Subjects:
    return local_subjects(STATE)


@pytest.fixture(scope="session")
def environment_of(subjects: Subjects, newest: Environment) -> Callable[..., Environment]:
    """Make (or find) the environment of a subject; its first process compiles what it imports."""

    def made(text: str, python: str | None = None, state: Path = OF_TESTS) -> Environment:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(local, "Environments", partial(Environments, uv=Uncompiled()))
            found = local.environment_of(subjects.parse(text, python=python), subjects, state)
        lend_bytecode(newest, found)  # as much as that process needs not compile
        return found

    return made


@pytest.fixture(scope="session")
def newest(subjects: Subjects) -> Environment:
    """The environment of the newest release in the table that this machine can install."""
    installable = [
        release
        for release in subjects.history.table.releases
        if set(release.pythons) & {i.minor for i in subjects.found.interpreters}
    ]
    return local.environment_of(subjects.parse(installable[-1].version), subjects, STATE)


@pytest.fixture
def bench(newest: Environment, tmp_path: Path, shelf: Shelf) -> Bench:
    return Bench(newest, tmp_path, shelf)


@pytest.fixture
def observatory(newest: Environment) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command, as a user starts it."""

    def command(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "observatory", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=STATE.parent,
            **options,
        )

    return command
