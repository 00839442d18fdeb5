"""The same posterior written with `pm.Model`, compiled the way `pm.sample` compiles it.

No other model imports pymc: that changes PyTensor's configuration and may register rewrites.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import Errors, Graph, Model
from .parts.radon_data import RadonData, Variant, layout, load, point

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from . import Vector

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


@dataclass(frozen=True)
class RadonPymc:
    """Makes the graph of the base variant."""

    data: RadonData

    def graph(self, member: str = "") -> Graph:
        """Return the graph of a new PyMC model."""
        import numpy as np

        from .parts import reference

        n_counties = self.data.n_counties
        model = build(self.data)
        where = point(n_counties)
        places = order(model, n_counties)
        right = reference.evaluate(self.data, Variant.named(member), where)

        def compile_graph(mode: Any) -> Callable[[Vector], Any]:
            # What a NUTS step asks for: logp and gradient over PyMC's raveled vector. The point is
            # given, because finding one would draw from the prior with functions of its own.
            keywords = {} if mode is None else {"mode": mode}
            function = model.logp_dlogp_function(
                initial_point=start(n_counties), ravel_inputs=True, **keywords
            )
            inner: Callable[[Vector], Any] = function._pytensor_function
            inner.trust_input = True  # type: ignore[attr-defined]
            return inner

        def check(value: Any) -> Errors:
            logp, gradient = value
            ours = np.full(places.size, np.nan)
            ours[places] = np.asarray(gradient, dtype=float)
            return right.errors(logp, ours)

        return Graph(where[places], compile_graph, check)

    def explain(self, value: Any) -> str | None:
        """Return a sentence with the logp of a wrong value."""
        return f"logp is {float(value[0]):.6g}"


MODEL = Model(
    meaning="the same posterior written with pm.Model, compiled the way pm.sample does",
    reference="NumPy",
    build=lambda data: RadonPymc(load(data)),
    families=("build", "call", "sampling"),
    packages=("pymc",),
    order=1,
)


def build(data: RadonData) -> Any:
    """Return the `pm.Model` of the base variant."""
    import numpy as np
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


def start(n_counties: int) -> dict[str, NDArray[np.float64]]:
    """Return the unconstrained point at zero, with the names that PyMC gives its values."""
    import numpy as np

    return {_VALUE_NAMES[p.name]: np.zeros(p.shape) for p in layout(n_counties)}


def order(model: Any, n_counties: int) -> NDArray[np.int64]:
    """Return the index in our layout of each entry of PyMC's raveled vector, shape (n,)."""
    import numpy as np

    slices = {_VALUE_NAMES[p.name]: p.slice for p in layout(n_counties)}
    every = np.arange(sum(p.size for p in layout(n_counties)))
    return np.concatenate([every[slices[v.name]] for v in model.continuous_value_vars])
