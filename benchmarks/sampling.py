"""What a PyMC user does: `pm.sample` in two processes, from a cold and from a warm cache.

This runs in the environment under test. PyMC starts its chains with the start method of the cell.
Each chain writes its first logp and gradient to a file: if a cache gave it the code of
another function, they are wrong, or PyMC raises "Bad initial energy".
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from .bench import Bench
from .messages import Check
from .models import radon_pymc
from .models.parts import reference
from .models.parts.radon_data import BASE_VARIANT, RadonData, Variant, layout
from .models.radon_pymc import RadonPymc

CHAINS = 2
_COUNTIES = 8
_VARIABLE = "OBSERVATORY_CHAINS"
"""Environment variable that names the directory of the chains' files."""


def small(data: RadonData) -> RadonData:
    """Return the houses of the first 8 counties: few enough to compile and sample in seconds."""
    few = data.county < _COUNTIES
    return RadonData(data.county[few], data.floor[few], data.log_radon[few])


def watched(step: Any) -> Any:
    """Make a step method write its first logp and gradient to a file, and return it.

    The step keeps doing so when cloudpickle sends it to another process.
    """
    step.__class__ = _watching(type(step))
    return step


def _watching(base: type) -> type:
    class Watched(base):  # type: ignore[misc]
        def astep(self, start: Any) -> Any:
            if not getattr(self, "_told", False):
                self._told = True
                logp, gradient = self._logp_dlogp_func(start)
                told = {"logp": float(logp), "gradient": np.asarray(gradient).tolist()}
                Path(os.environ[_VARIABLE], f"{os.getpid()}.json").write_text(json.dumps(told))
            return super().astep(start)

    return Watched


def sample(bench: Bench) -> None:
    """Sample the bench's model. Adds `first_draw_time` to the metrics and one check for each chain.

    `first_draw_time`: seconds from building the step method until the first draw of any chain.
    Raises what `pm.sample` raises, and TypeError for a model that is not `RadonPymc`.
    """
    import pymc as pm

    if not isinstance(bench.model, RadonPymc):
        raise TypeError("only the model radon_pymc is sampled")
    data = small(bench.model.data)
    model = radon_pymc.build(data)
    order = radon_pymc.order(model, data.n_counties)
    start = np.zeros(sum(p.size for p in layout(data.n_counties)))
    right = reference.evaluate(data, Variant.named(BASE_VARIANT), start)
    drawn: list[float] = []
    with tempfile.TemporaryDirectory() as told, model:
        os.environ[_VARIABLE] = told
        begin = time.perf_counter()
        keywords = {} if bench.mode is None else {"mode": bench.mode}
        initial = radon_pymc.start(data.n_counties)
        step = watched(pm.NUTS(model=model, initial_point=initial, **keywords))
        pm.sample(
            draws=5, tune=5, chains=CHAINS, cores=CHAINS, mp_ctx=bench.launch, step=step,
            initvals=_initial(data.n_counties), random_seed=85, progressbar=False,
            compute_convergence_checks=False, return_inferencedata=False,
            callback=lambda **_: drawn.append(time.perf_counter()),
        )  # fmt: skip
        bench.metrics["first_draw_time"] = drawn[0] - begin
        bench.measured_seconds += drawn[0] - begin
        chains = [json.loads(path.read_text()) for path in sorted(Path(told).iterdir())]
    if len(chains) != CHAINS:
        bench.raised.append(f"only {len(chains)} of {CHAINS} chains wrote their first point")
    for number, chain in enumerate(chains):
        gradient = np.full(order.size, np.nan)
        gradient[order] = chain["gradient"]
        found = right.errors(chain["logp"], gradient)
        note = f"logp is {chain['logp']:.6g}" if found.wrong else None
        bench.checks.append(
            Check(f"chain {number}", found.logp_error, found.gradient_error, found.wrong, note)
        )


def _initial(n_counties: int) -> dict[str, Any]:
    """The values, on the scale of the model, whose unconstrained vector is zero."""
    return {
        "intercept": 0.0, "county_sd": 1.0, "county_raw": np.zeros(n_counties),
        "floor_effect": 0.0, "county_floor_sd": 1.0, "county_floor_raw": np.zeros(n_counties),
        "sigma": 1.0,
    }  # fmt: skip
