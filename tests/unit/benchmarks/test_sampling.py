from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from observatory.benchmarks.catalogue import SAMPLING, Cell, metrics_of
from observatory.benchmarks.models.parts import radon_data
from observatory.benchmarks.sampling import CHAINS, small, watched


def test_the_small_radon_has_whole_counties_and_nothing_else() -> None:
    data = radon_data.generated()
    few = small(data)
    assert few.n_counties == 8
    assert few.log_radon.size == int(np.sum(data.county < 8))


class Step:
    """What a step method of PyMC is to the sampler."""

    def _logp_dlogp_func(self, start: Any) -> tuple[float, Any]:
        return float(np.sum(start)), 2.0 * start

    def astep(self, start: Any) -> str:
        return f"stepped from {start.tolist()}"


def test_a_watched_step_tells_its_first_point_once_and_steps_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OBSERVATORY_CHAINS", str(tmp_path))
    step = watched(Step())
    assert step.astep(np.array([1.0, 2.0])) == "stepped from [1.0, 2.0]"
    step.astep(np.array([5.0, 5.0]))
    (told,) = tmp_path.iterdir()
    assert json.loads(told.read_text()) == {"logp": 3.0, "gradient": [2.0, 4.0]}


def test_chains_are_started_under_every_launch_and_never_in_one_process() -> None:
    assert CHAINS == 2
    for launch in ("fork", "forkserver", "spawn"):
        for scenario in SAMPLING:
            assert Cell("radon_pymc", scenario, "NUMBA", launch).problem() is None
            names = {metric.name for metric in metrics_of(scenario, launch)}
            assert {"first_draw_time", "wrong_results", "crashed"} <= names
            assert "cache_misses" not in names
