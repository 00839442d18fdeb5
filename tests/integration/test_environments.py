"""One real environment, made by the real uv from the index as this machine has it."""

import json
import subprocess
from collections.abc import Callable

import pytest

from observatory.run.environments import Environment, Environments
from observatory.run.history import History
from observatory.run.interpreters import find
from observatory.run.releases import load
from observatory.run.subjects import Subjects
from observatory.run.uv import Index
from tests.integration.conftest import Uncompiled

pytestmark = pytest.mark.integration


def test_the_newest_pytensor_is_installed_and_can_run_the_benchmarks(tmp_path):
    found = find()
    subjects = Subjects(History(load(), tmp_path), Index(), found)
    subject, choice = subjects.newest()
    uv = Uncompiled()
    environment = Environments(tmp_path / "envs", uv).ensure(subject, choice.interpreter)
    assert environment.versions.pytensor == choice.pytensor
    assert environment.versions.numba is not None
    asked = "import json, pytensor, benchmarks.catalogue as v; print(json.dumps(list(v.LAUNCHES)))"
    done = subprocess.run(
        [str(environment.python), "-c", asked],
        env=environment.variables(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == ["fork", "spawn", "forkserver"]


def test_a_numba_that_was_named_is_taken_even_beyond_pytensors_bounds(
    environment_of: Callable[[str], Environment],
) -> None:
    """PyTensor 3.0.0 declares numba<=0.65.1; who names a newer one wants to know what it does."""
    found = environment_of("3.0.0 numba==0.66.0")
    assert found.versions.numba == "0.66.0"
