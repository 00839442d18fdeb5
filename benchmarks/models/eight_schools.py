"""Eight schools (Rubin 1981), not centered: the smallest hierarchical model."""

from __future__ import annotations

from typing import Any

from .parts.pymc_model import (
    Data,
    Point,
    Predicted,
    PymcModel,
    Quantity,
    normal,
    path_model,
)

_EFFECTS = (28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0)
_ERRORS = (15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0)


def _data(seed: int, times: int) -> Data:
    import numpy as np

    moved = np.random.default_rng(seed).normal(size=8 * times) if seed else np.zeros(8 * times)
    return {"y": np.tile(_EFFECTS, times) + moved, "error": np.tile(_ERRORS, times)}


def _make(pm: Any, data: Data) -> Any:
    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        theta = pm.Normal("theta", 0, 1, shape=data["y"].size)
        pm.Normal("y", mu + tau * theta, data["error"], observed=data["y"])
    return model


def _logp(data: Data, at: Point) -> float:
    import numpy as np

    tau = np.exp(at["tau_log__"])
    prior = np.log(2 / (np.pi * 5)) - np.log1p((tau / 5) ** 2) + at["tau_log__"]
    theta = at["theta"]
    likelihood = normal(data["y"], at["mu"] + tau * theta, data["error"])
    return normal(at["mu"], 0, 5) + float(prior) + normal(theta, 0, 1) + likelihood


def _start(data: Data) -> Point:
    import numpy as np

    return {"mu": 0.0, "tau_log__": np.log(5.0), "theta": np.zeros(data["y"].size)}


def _parameters(data: Data) -> Point:
    import numpy as np

    return {"mu": 4.0, "tau": 3.0, "theta": np.linspace(-1, 1, data["y"].size)}


def _quantity() -> Quantity:
    """The posterior of `mu`: theta is integrated out in closed form, tau and mu on a grid."""
    import numpy as np

    effects, spread = np.array(_EFFECTS), np.array(_ERRORS)
    mu = np.linspace(-20, 25, 1801)
    # tau = 5 tan(angle) is a half-Cauchy variable where the angle is uniform.
    angles = (np.arange(2000) + 0.5) * np.pi / 4000
    density = np.zeros(mu.size)
    for tau in 5 * np.tan(angles):
        sd = np.sqrt(spread**2 + tau**2)
        z = (effects - mu[:, None]) / sd
        density += np.exp(-0.5 * (z**2).sum(axis=1) - np.log(sd).sum() - 0.5 * (mu / 5) ** 2)
    density /= density.sum()
    mean = float(density @ mu)
    return Quantity("mu", mean, float(density @ (mu - mean) ** 2) ** 0.5)


MODEL = path_model(
    "eight schools, not centered: a hierarchical model of ten variables",
    lambda: PymcModel(
        _make, _data, _logp, _start, _parameters,
        lambda data, at: Predicted(at["mu"] + at["tau"] * at["theta"], data["error"]),
        _quantity(),
    ),
)  # fmt: skip
