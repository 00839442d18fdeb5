"""The same posterior written with `pm.Model`, compiled the way `pm.sample` compiles it.

The only module that imports pymc, and only inside functions: importing pymc changes PyTensor's
configuration and may register rewrites, so no other model may see it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.models.parameters import layout
from benchmarks.models.radon_data import RadonData

# The names that PyMC gives the unconstrained values of our parameters.
_VALUE_NAMES = {
    "intercept": "intercept",
    "county_sd": "county_sd_log__",
    "county_raw": "county_raw_zerosum__",
    "floor_effect": "floor_effect",
    "county_floor_sd": "county_floor_sd_log__",
    "county_floor_raw": "county_floor_raw_zerosum__",
    "sigma": "sigma_log__",
}


def build(data: RadonData) -> Any:
    """The `pm.Model` of the base variant."""
    import pymc as pm

    with pm.Model(coords={"county": np.arange(data.n_counties)}) as model:
        intercept = pm.Normal("intercept", sigma=10)
        county_sd = pm.HalfNormal("county_sd")
        county_raw = pm.ZeroSumNormal("county_raw", dims="county")
        floor_effect = pm.Normal("floor_effect", sigma=2)
        county_floor_sd = pm.HalfNormal("county_floor_sd")
        county_floor_raw = pm.ZeroSumNormal("county_floor_raw", dims="county")
        sigma = pm.HalfNormal("sigma")
        mu = (
            intercept
            + (county_raw * county_sd)[data.county]
            + floor_effect * data.floor
            + (county_floor_raw * county_floor_sd)[data.county] * data.floor
        )
        pm.Normal("log_radon", mu=mu, sigma=sigma, observed=data.log_radon)
    return model


def compile_logp_dlogp(model: Any, n_counties: int, mode: Any) -> Any:
    """What a NUTS step asks for: logp and gradient over PyMC's raveled vector."""
    # Given, because finding one would draw from the prior with functions of its own.
    keywords = {} if mode is None else {"mode": mode}
    return model.logp_dlogp_function(initial_point=start(n_counties), ravel_inputs=True, **keywords)


def start(n_counties: int) -> dict[str, NDArray[np.float64]]:
    """The unconstrained point at zero, as PyMC names its values."""
    return {_VALUE_NAMES[p.name]: np.zeros(p.shape) for p in layout(n_counties)}


def order(model: Any, n_counties: int) -> NDArray[np.int64]:
    """Where each entry of PyMC's raveled vector stands in our layout, shape (n,)."""
    slices = {_VALUE_NAMES[p.name]: p.slice for p in layout(n_counties)}
    every = np.arange(sum(p.size for p in layout(n_counties)))
    return np.concatenate([every[slices[v.name]] for v in model.continuous_value_vars])
