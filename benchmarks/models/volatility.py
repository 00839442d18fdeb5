"""A time series whose variance follows its past: a Scan and its gradient."""

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

    noise = np.random.default_rng(200 + seed).normal(size=40 * times)
    variance, values = 1.0, []
    for one in noise:
        values.append(0.5 + one * np.sqrt(variance))
        variance = 0.3 + 0.3 * (values[-1] - 0.5) ** 2 + 0.4 * variance
    return {"y": np.array(values)}


def _make(pm: Any, data: Data) -> Any:
    import numpy as np
    import pytensor
    import pytensor.tensor as pt

    y = data["y"]
    with pm.Model() as model:
        mean = pm.Normal("mean", 0, 1)
        base, shock, memory = (pm.Normal(f"log_{o}", -1, 0.5) for o in ("base", "shock", "memory"))

        def step(past: Any, variance: Any, mean: Any, base: Any, shock: Any, memory: Any) -> Any:
            return pt.exp(base) + pt.exp(shock) * (past - mean) ** 2 + pt.exp(memory) * variance

        found = pytensor.scan(
            step, sequences=[pt.as_tensor(y[:-1])], outputs_info=[pt.as_tensor(np.float64(1.0))],
            non_sequences=[mean, base, shock, memory],
        )  # fmt: skip
        # Releases return the updates beside the variances, or no longer.
        later = found[0] if isinstance(found, tuple | list) else found
        variance = pt.concatenate([pt.ones(1), later])
        pm.Normal("y", mean, pt.sqrt(variance), observed=y)
    return model


def _sd(data: Data, at: Point) -> Any:
    import numpy as np

    variances = [1.0]
    for past in data["y"][:-1]:
        shock = np.exp(at["log_shock"]) * (past - at["mean"]) ** 2
        memory = np.exp(at["log_memory"]) * variances[-1]
        variances.append(float(np.exp(at["log_base"]) + shock + memory))
    return np.sqrt(np.array(variances))


def _logp(data: Data, at: Point) -> float:
    prior = sum(normal(at[f"log_{one}"], -1, 0.5) for one in ("base", "shock", "memory"))
    return normal(at["mean"], 0, 1) + prior + normal(data["y"], at["mean"], _sd(data, at))


MODEL = path_model(
    "a time series whose variance follows its past: a Scan of 40 steps and its gradient",
    lambda: PymcModel(
        _make, _data, _logp,
        lambda _: {"mean": 0.0, "log_base": -1.0, "log_shock": -1.0, "log_memory": -1.0},
        lambda _: {"mean": 0.4, "log_base": -1.1, "log_shock": -1.2, "log_memory": -0.9},
        lambda data, at: Predicted(at["mean"], _sd(data, at)),
        Quantity("mean", 0.38, 0.146),
    ),
)  # fmt: skip
