"""A mixture of two normal distributions: logsumexp and its gradient."""

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

    rng = np.random.default_rng(300 + seed)
    size = 60 * times
    low = rng.random(size) < 0.3
    return {"y": np.where(low, rng.normal(-2, 0.7, size), rng.normal(2, 0.7, size))}


def _make(pm: Any, data: Data) -> Any:
    import pytensor.tensor as pt

    with pm.Model() as model:
        weight = pm.Beta("weight", 2, 2)
        low, high = pm.Normal("low", -2, 1), pm.Normal("high", 2, 1)
        log_sd = pm.Normal("log_sd", 0, 1)
        pm.NormalMixture(
            "y", w=pt.stack([weight, 1 - weight]), mu=pt.stack([low, high]), sigma=pt.exp(log_sd),
            observed=data["y"],
        )  # fmt: skip
    return model


def _logp(data: Data, at: Point) -> float:
    import numpy as np

    logit = at["weight_logodds__"]
    inside, outside = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)  # log(w), log(1 - w)
    prior = np.log(6) + 2 * inside + 2 * outside  # Beta(2, 2), and one of each for the transform
    prior += normal(at["low"], -2, 1) + normal(at["high"], 2, 1) + normal(at["log_sd"], 0, 1)
    scaled = (data["y"][:, None] - np.array([at["low"], at["high"]]).ravel()) / np.exp(at["log_sd"])
    terms = np.array([inside, outside]).ravel() - 0.5 * scaled**2
    each = np.logaddexp(terms[:, 0], terms[:, 1]) - at["log_sd"] - 0.5 * np.log(2 * np.pi)
    return float(prior + np.sum(each))


def _predicted(data: Data, at: Point) -> Predicted:
    import numpy as np

    weight = at["weight"]
    mean = weight * at["low"] + (1 - weight) * at["high"]
    square = weight * at["low"] ** 2 + (1 - weight) * at["high"] ** 2 + np.exp(2 * at["log_sd"])
    ones = np.ones(data["y"].size)
    return Predicted(mean * ones, np.sqrt(square - mean**2) * ones)


MODEL = path_model(
    "a mixture of two normal distributions: logsumexp and its gradient",
    lambda: PymcModel(
        _make, _data, _logp,
        lambda _: {"weight_logodds__": 0.0, "low": -2.0, "high": 2.0, "log_sd": 0.0},
        lambda _: {"weight": 0.35, "low": -1.5, "high": 2.5, "log_sd": -0.2},
        _predicted,
        Quantity("high", 1.936, 0.097),
    ),
)  # fmt: skip
