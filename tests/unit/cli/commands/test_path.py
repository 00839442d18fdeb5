"""`observatory path` on saved steps; nothing is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.errors import Exit
from observatory.store.records.sample import Build
from tests.command import observatory
from tests.factories import header, journal, sample

STEP = Build(name="compile_logp", metrics={"functions_compiled": 42.0, "cache_misses": 3.0})


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Those of one model's path."""
    cell = Cell("eight_schools", "path_warm", "NUMBA", "spawn")
    journal(tmp_path, [sample(cell, "counting", steps=[STEP])])
    return tmp_path


def test_the_steps_of_a_model_are_rows(results: Path) -> None:
    for more in ((), ("--model", "eight_schools")):
        done = observatory("path", "--results", results, *more)
        assert done.returncode == Exit.OK, done.stderr
        assert "compile_logp" in done.stdout


@pytest.mark.parametrize("model", ["mixture", "eight_school"])
def test_a_model_without_steps_is_named(results: Path, model: str) -> None:
    done = observatory("path", "--results", results, "--model", "eight_schools", "--model", model)
    assert (done.returncode, done.stdout) == (Exit.USAGE, "")
    assert f"there is no model '{model}'" in done.stderr


def test_each_machine_has_its_own_table(tmp_path: Path) -> None:
    cell = Cell("eight_schools", "path_warm", "NUMBA", "spawn")
    for name in ("fast", "slow"):
        under = header("3.3.8")
        machine = under.machine.model_copy(update={"machine": name})
        journal(tmp_path, [sample(cell, "counting", steps=[STEP])],
                under=under.model_copy(update={"machine": machine}))  # fmt: skip
    done = observatory("path", "--results", tmp_path)
    words = " ".join(done.stdout.split())
    for name in ("fast", "slow"):
        assert f"eight_schools with NUMBA, Python 3.13 on {name}, Some CPU, Linux" in words
