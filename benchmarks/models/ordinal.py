"""An ordinal regression with four categories: a transform that orders, and a discrete outcome."""

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

_CUTS = (-1.0, 0.0, 1.0)


def _data(seed: int, times: int) -> Data:
    import numpy as np

    rng = np.random.default_rng(400 + seed)
    x = rng.normal(size=80 * times)
    return {"x": x, "y": np.searchsorted(_CUTS, 0.8 * x + rng.logistic(size=x.size))}


def _make(pm: Any, data: Data) -> Any:
    import numpy as np

    with pm.Model() as model:
        slope = pm.Normal("slope", 0, 1)
        cuts = pm.Normal(
            "cuts", 0, 2, shape=3, transform=pm.distributions.transforms.ordered,
            initval=np.array(_CUTS),
        )  # fmt: skip
        pm.OrderedLogistic(
            "y", eta=slope * data["x"], cutpoints=cuts, compute_p=False, observed=data["y"]
        )
    return model


def _probabilities(eta: Any, cuts: Any) -> Any:
    """The probability of each category, shape (observations, 4)."""
    import numpy as np
    from scipy.special import expit

    below = expit(cuts - np.asarray(eta)[:, None])
    return np.diff(below, axis=1, prepend=0, append=1)


def _logp(data: Data, at: Point) -> float:
    import numpy as np

    raw = at["cuts_ordered__"]
    cuts = np.cumsum(np.concatenate([raw[:1], np.exp(raw[1:])]))
    prior = normal(at["slope"], 0, 1) + normal(cuts, 0, 2) + float(np.sum(raw[1:]))
    chances = _probabilities(at["slope"] * data["x"], cuts)
    return prior + float(np.log(chances[np.arange(data["y"].size), data["y"]]).sum())


def _start(_: Data) -> Point:
    import numpy as np

    return {"slope": 0.0, "cuts_ordered__": np.array([_CUTS[0], 0.0, 0.0])}


def _parameters(_: Data) -> Point:
    import numpy as np

    return {"slope": 0.5, "cuts": np.array([-1.2, 0.1, 0.8])}


def _predicted(data: Data, at: Point) -> Predicted:
    import numpy as np

    chances = _probabilities(at["slope"] * data["x"], at["cuts"])
    mean = chances @ np.arange(4)
    return Predicted(mean, np.sqrt(chances @ np.arange(4) ** 2 - mean**2))


MODEL = path_model(
    "an ordinal regression with four categories",
    lambda: PymcModel(
        _make, _data, _logp, _start, _parameters, _predicted, Quantity("slope", 0.537, 0.2)
    ),
)
