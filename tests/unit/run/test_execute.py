"""What the tool makes of a primitive that prints no valid record."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.catalogue import Cell
from benchmarks.plan import Task
from observatory.run.execute import Executor

TASK = Task(Cell("radon", "cold", "NUMBA", "spawn"), "counting", 0)


@dataclass(frozen=True)
class Environment:
    """An environment under test in which a script stands for the primitive."""

    script: str

    def command(self, module: str, *arguments: str) -> list[str]:
        assert module == "benchmarks.sample"
        return [sys.executable, "-c", self.script]

    def variables(self) -> dict[str, str]:
        return dict(os.environ)


@pytest.mark.parametrize(
    ("script", "status", "said", "signal", "code"),
    [
        ("import sys; print('it broke', file=sys.stderr); sys.exit(7)", "raised",
         "the primitive exited with code 7 without a valid record", None, 7),
        ("import os; os.kill(os.getpid(), 9)", "killed",
         "the primitive died of SIGKILL without a valid record", "SIGKILL", None),
        ("print('{\"schema\": \"observatory/sample/1\"}')", "raised",
         "the primitive exited with code 0 without a valid record: Field required", None, 0),
    ],
)  # fmt: skip
def test_a_primitive_that_prints_no_valid_record_is_a_sample_that_crashed(
    tmp_path: Path, script: str, status: str, said: str, signal: str | None, code: int | None
) -> None:
    environment = cast("Any", Environment(script))
    found = Executor(environment, tmp_path, timeout=60).run(TASK)
    assert found.status == status
    assert found.metrics == {"crashed": 1}
    assert (found.cell, found.measure) == (TASK.cell, "counting")
    assert found.failure is not None
    assert found.failure.message.startswith(said)
    assert (found.failure.signal, found.failure.exit_code) == (signal, code)
    assert found.failure.stderr == (["it broke"] if code == 7 else [])
