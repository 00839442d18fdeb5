"""The steps of the path: what a user of PyMC does, one function each."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..bench import Bench
from ..messages import ChainReport, Step
from ..models import NotInThisRelease
from ..models.parts.pymc_model import Data, PymcModel
from ..probes import functions
from ..typed_json import from_json
from . import chains
from .walk import Walk

_SEED = 85
_DRAWS = {"draws": 30, "tune": 50}
_PREDICTED = 300
_PARTICLES = 300
_FITS = 1500


def take(bench: Bench, name: str) -> Step:
    """Take one step in this process, and return it with its metrics. Its checks are the bench's.

    Raises what the step raises, and NotInThisRelease where this environment does not have it.
    """
    if not isinstance(bench.model, PymcModel):
        raise TypeError("only models written with pm.Model are taken along the path")
    if bench.probed:
        functions.install(bench.ledger)
        chains.watch(bench.ledger, bench.backend)
    with tempfile.TemporaryDirectory() as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        walk = Walk(bench, name, bench.model, Path(made, "told"))
        _STEPS[name](walk)
    return Step(name, walk.counts(), compiled=walk.compiled)


def _initial_point(walk: Walk) -> None:
    model = walk.new_model()
    with walk.span():
        found = model.initial_point()
    walk.check_point(found)


def _compile_logp(walk: Walk) -> None:
    model = walk.new_model()
    at = walk.model.start(walk.data)
    with walk.span():
        value = model.compile_logp()(at)
    walk.check_logp(value, at)


def _gradient(walk: Walk, data: Data | None = None, *, after: bool = False) -> None:
    """Compile logp and gradient; ``after``: after the same of the model that was there before."""
    if after:
        first = walk.model.graph()
        first.compile(None)(first.point)
    graph = walk.model.density(walk.data if data is None else data)
    with walk.span():
        value = graph.compile(None)(graph.point)
    walk.check(graph.check(value), walk.model.explain(value))


def _load_pickle(walk: Walk) -> None:
    at = walk.model.start(walk.data)
    function = walk.new_model().compile_logp()
    file = Path(tempfile.gettempdir(), "function.pickle")
    # The function of PyTensor inside PyMC's: that is what the samplers' processes receive.
    file.write_bytes(pickle.dumps((getattr(function, "f", function), dict(at))))
    command = [sys.executable, "-m", "benchmarks.path.loading", str(file), walk.name,
               *((walk.bench.backend,) if walk.bench.probed else ())]  # fmt: skip
    with walk.span():
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    file.unlink()
    report = from_json(ChainReport, done.stdout.splitlines()[-1])
    walk.add(report)
    walk.check_logp(report.logp, at)


def _sample(walk: Walk, chain_processes: str = "", *, after: bool = False) -> None:
    """Sample; ``after``: after another `pm.sample` of the model in this process."""
    model = walk.new_model()
    if after:
        _sampled(walk, model, chain_processes)
    with walk.span():
        trace = _sampled(walk, model, chain_processes)
    walk.check_draws(trace)


def _sampled(walk: Walk, model: Any, chain_processes: str) -> Any:
    import pymc as pm

    ways = {"chains": 2, "cores": 2, "mp_ctx": chain_processes} if chain_processes else {
        "chains": 1, "cores": 1
    }  # fmt: skip
    with model:
        return pm.sample(
            **_DRAWS, **ways, nuts_sampler="pymc", random_seed=_SEED, progressbar=False,
            compute_convergence_checks=False, return_inferencedata=False,
            callback=lambda **_: walk.drawn(),
        )  # fmt: skip


def _predict(walk: Walk, *, after: bool = False) -> None:
    at = walk.model.parameters(walk.data)
    model = walk.new_model()
    if after:
        _predicted(model, at)
    with walk.span():
        draws = _predicted(model, at)
    walk.check_predicted(draws, walk.model.predicted(walk.data, at))


def _predicted(model: Any, at: Mapping[str, Any]) -> Any:
    import pymc as pm

    point = {name: np.asarray(value, dtype=float) for name, value in at.items()}
    with model:
        found = pm.sample_posterior_predictive(
            [point] * _PREDICTED, random_seed=_SEED, progressbar=False, return_inferencedata=False
        )
    draws = np.asarray(found["y"])
    return draws.reshape(_PREDICTED, *draws.shape[draws.shape.index(_PREDICTED) + 1 :])


def _smc(walk: Walk) -> None:
    import pymc as pm

    with walk.new_model(), walk.span():
        trace = pm.sample_smc(
            draws=_PARTICLES, chains=1, cores=1, random_seed=_SEED, progressbar=False,
            compute_convergence_checks=False, return_inferencedata=False,
        )  # fmt: skip
    walk.check_posterior(trace.get_values(walk.model.quantity.name), sds=0.6)


def _advi(walk: Walk) -> None:
    import pymc as pm

    with walk.new_model(), walk.span():
        found = pm.fit(
            _FITS, method="advi", random_seed=_SEED, progressbar=False,
            obj_optimizer=pm.adam(learning_rate=0.03),
        )  # fmt: skip
        trace = found.sample(_PARTICLES, random_seed=_SEED, return_inferencedata=False)
    # Its normal distributions know no correlations: they are narrower than the posterior.
    walk.check_posterior(trace.get_values(walk.model.quantity.name), sds=1.0, narrowest=0.2)


def _nutpie(walk: Walk) -> None:
    import pymc as pm

    if find_spec("nutpie") is None:
        raise NotInThisRelease("nutpie is not installed in this environment")
    if "nuts_sampler" not in inspect.signature(pm.sample).parameters:
        raise NotInThisRelease("this release of PyMC cannot sample with nutpie")
    with walk.new_model(), walk.span():
        found = pm.sample(
            draws=300, tune=300, chains=1, cores=1, nuts_sampler="nutpie", random_seed=_SEED,
            progressbar=False, compute_convergence_checks=False,
        )  # fmt: skip
    walk.check_posterior(found.posterior[walk.model.quantity.name].to_numpy(), sds=0.6)


_STEPS: Mapping[str, Callable[[Walk], None]] = {
    "initial_point": _initial_point,
    "compile_logp": _compile_logp,
    "compile_gradient": _gradient,
    "rebuild": lambda walk: _gradient(walk, after=True),
    "new_data": lambda walk: _gradient(walk, walk.model.data(1, 1), after=True),
    "new_shape": lambda walk: _gradient(walk, walk.model.data(1, 2), after=True),
    "load_pickle": _load_pickle,
    "sample": _sample,
    "sample_again": lambda walk: _sample(walk, after=True),
    "chains_fork": lambda walk: _sample(walk, "fork"),
    "chains_spawn": lambda walk: _sample(walk, "spawn"),
    "chains_forkserver": lambda walk: _sample(walk, "forkserver"),
    "predict": _predict,
    "predict_again": lambda walk: _predict(walk, after=True),
    "smc": _smc,
    "advi": _advi,
    "nutpie": _nutpie,
}
