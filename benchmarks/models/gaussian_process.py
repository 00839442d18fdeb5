"""A Gaussian process of 24 points: Cholesky decomposition and its gradient."""

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


def _data(seed: int, times: int) -> Data:
    import numpy as np

    x = np.linspace(0, 6, 24 * times)
    noise = np.random.default_rng(100 + seed).normal(size=x.size)
    return {"x": x, "y": np.sin(1.5 * x) + 0.3 * noise}


def _make(pm: Any, data: Data) -> Any:
    import numpy as np
    import pytensor.tensor as pt

    with pm.Model() as model:
        log_length, log_height = (pm.Normal(f"log_{one}", 0, 1) for one in ("length", "height"))
        log_noise = pm.Normal("log_noise", -1, 1)
        kernel = pt.exp(2 * log_height) * pm.gp.cov.ExpQuad(1, ls=pt.exp(log_length))
        eye = np.eye(data["x"].size)
        covariance = kernel(data["x"][:, None]) + pt.exp(2 * log_noise) * eye
        pm.MvNormal("y", np.zeros(data["x"].size), cov=covariance, observed=data["y"])
    return model


def _covariance(data: Data, at: Point) -> Any:
    import numpy as np

    apart = data["x"][:, None] - data["x"][None, :]
    smooth = np.exp(2 * at["log_height"] - 0.5 * (apart / np.exp(at["log_length"])) ** 2)
    return smooth + np.exp(2 * at["log_noise"]) * np.eye(data["x"].size)


def _logp(data: Data, at: Point) -> float:
    import numpy as np
    from scipy import linalg

    factor = linalg.cholesky(_covariance(data, at), lower=True)
    z = linalg.solve_triangular(factor, data["y"], lower=True)
    size = data["y"].size
    likelihood = -0.5 * z @ z - np.log(np.diag(factor)).sum() - 0.5 * size * np.log(2 * np.pi)
    prior = normal(at["log_length"], 0, 1) + normal(at["log_height"], 0, 1)
    return float(prior + normal(at["log_noise"], -1, 1) + likelihood)


def _predicted(data: Data, at: Point) -> Predicted:
    import numpy as np

    return Predicted(np.zeros(data["x"].size), np.sqrt(np.diag(_covariance(data, at))))


MODEL = path_model(
    "a Gaussian process of 24 points: Cholesky decomposition and its gradient",
    lambda: PymcModel(
        _make, _data, _logp,
        lambda _: {"log_length": 0.0, "log_height": 0.0, "log_noise": -1.0},
        lambda _: {"log_length": 0.2, "log_height": 0.1, "log_noise": -1.0},
        _predicted,
        Quantity("log_noise", -1.21, 0.18),
    ),
)  # fmt: skip
