"""300 variables of one number each: what costs by variable shows here."""

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

VARIABLES = 300
_NAMES = tuple(f"x{number}" for number in range(VARIABLES))
_SD = 0.5


def _data(seed: int, times: int) -> Data:
    import numpy as np

    return {"y": np.random.default_rng(500 + seed).normal(size=(times, VARIABLES))}


def _make(pm: Any, data: Data) -> Any:
    import pytensor.tensor as pt

    with pm.Model() as model:
        every = pt.stack([pm.Normal(name, 0, 1) for name in _NAMES])
        pm.Normal("y", every[None, :], _SD, observed=data["y"])
    return model


def _logp(data: Data, at: Point) -> float:
    import numpy as np

    # Differences of doubles of this size would be further from the gradient than its tolerance.
    every = np.array([np.longdouble(at[name]) for name in _NAMES])
    return normal(every, 0, 1) + normal(data["y"], every[None, :], _SD)


def _quantity() -> Quantity:
    """The conjugate posterior of the first variable."""
    precision = 1 + 1 / _SD**2
    return Quantity("x0", float(_data(0, 1)["y"][0, 0]) / _SD**2 / precision, precision**-0.5)


MODEL = path_model(
    f"{VARIABLES} variables of one number each, with one observation each",
    lambda: PymcModel(
        _make, _data, _logp,
        lambda _: dict.fromkeys(_NAMES, 0.0),
        lambda _: {name: number / VARIABLES for number, name in enumerate(_NAMES)},
        lambda data, at: Predicted([[at[name] for name in _NAMES]] * len(data["y"]), _SD),
        _quantity(),
    ),
    size=6.0,
)  # fmt: skip
