"""Real environments under test, made once by uv under `.observatory/` and shared by the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from observatory.record.sample import Sample
from observatory.run import here
from observatory.run.environments import Environment
from observatory.run.here import subjects_here
from observatory.run.subjects import Subjects

STATE = Path(__file__).resolve().parents[2] / ".observatory"


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
class Bench:
    """The primitive in one environment."""

    environment: Environment
    scratch: Path

    def sample(
        self, scenario: str, backend: str, *options: str, env: dict[str, str] | None = None
    ) -> Measured:
        trace = self.scratch / f"trace-{os.urandom(4).hex()}.jsonl"
        command = self.environment.command(
            "benchmarks.sample",
            *("--scenario", scenario, "--backend", backend, "--trace", str(trace)),
            *options,
        )
        variables = {**self.environment.variables(), "TMPDIR": str(self.scratch), **(env or {})}
        done = subprocess.run(
            command, capture_output=True, text=True, env=variables, cwd=self.scratch, check=False
        )
        assert done.stdout, done.stderr
        Sample.model_validate_json(done.stdout)
        events = [json.loads(line) for line in trace.read_text().splitlines()]
        return Measured(json.loads(done.stdout), events, done.returncode, done.stderr)


@pytest.fixture(scope="session")
def subjects() -> Subjects:
    return subjects_here(STATE)


@pytest.fixture(scope="session")
def environment_of(subjects: Subjects) -> Callable[[str], Environment]:
    """Make (or find) the environment of a subject."""
    return lambda text: here.environment_of(subjects.parse(text), subjects, STATE)


@pytest.fixture(scope="session")
def newest(subjects: Subjects, environment_of: Callable[[str], Environment]) -> Environment:
    """The environment of the newest release in the table that this machine can install."""
    installable = [
        release
        for release in subjects.history.table.releases
        if set(release.pythons) & {i.minor for i in subjects.found.interpreters}
    ]
    return environment_of(installable[-1].version)


@pytest.fixture
def bench(newest: Environment, tmp_path: Path) -> Bench:
    return Bench(newest, tmp_path)


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
