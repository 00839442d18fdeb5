"""The same posterior written with `pm.Model`, compiled the way `pm.sample` compiles it.

The only module that imports pymc, and only inside functions: importing pymc changes PyTensor's
configuration and may register rewrites, so no other model may see it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.models import Model
from benchmarks.models.parts.parameters import Variant, layout, point

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benchmarks.models import Errors, Vector
    from benchmarks.models.parts.radon_data import RadonData
    from benchmarks.models.parts.reference import Reference

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


@dataclass
class RadonPymcGraph:
    """The base variant as a PyMC model."""

    model: Any
    n_counties: int
    order: NDArray[np.int64]
    point: Vector
    reference: Reference

    def compile(self, mode: Any) -> Callable[[Vector], Any]:
        """Compile through PyMC."""
        function = compile_logp_dlogp(self.model, self.n_counties, mode)
        inner: Callable[[Vector], Any] = function._pytensor_function
        inner.trust_input = True  # type: ignore[attr-defined]
        return inner

    def check(self, value: Any) -> Errors:
        """Errors of (logp, gradient), the gradient brought into our order."""
        import numpy as np

        logp, gradient = value
        ours = np.full(self.order.size, np.nan)
        ours[self.order] = np.asarray(gradient, dtype=float)
        return self.reference.errors(logp, ours)


@dataclass(frozen=True)
class RadonPymc:
    """Builds the base variant only."""

    data: RadonData

    def graph(self, member: str = "") -> RadonPymcGraph:
        """A fresh model, and what it must evaluate to."""
        from benchmarks.models.parts import reference

        model = build(self.data)
        where = point(self.data.n_counties)
        places = order(model, self.data.n_counties)
        right = reference.evaluate(self.data, Variant.named(member), where)
        return RadonPymcGraph(model, self.data.n_counties, places, where[places], right)

    def explain(self, value: Any) -> str | None:
        """What a wrong value was."""
        return f"logp is {float(value[0]):.6g}"


def _load(data: Path | None) -> RadonPymc:
    from benchmarks.models.parts import radon_data

    return RadonPymc(radon_data.load(data))


MODEL = Model(
    meaning="the same posterior written with pm.Model, compiled the way pm.sample does",
    reference="NumPy",
    build=_load,
    families=("build", "call", "sampling"),
    packages=("pymc",),
    order=1,
)


def build(data: RadonData) -> Any:
    """The `pm.Model` of the base variant."""
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


def compile_logp_dlogp(model: Any, n_counties: int, mode: Any) -> Any:
    """What a NUTS step asks for: logp and gradient over PyMC's raveled vector."""
    # Given, because finding one would draw from the prior with functions of its own.
    keywords = {} if mode is None else {"mode": mode}
    return model.logp_dlogp_function(initial_point=start(n_counties), ravel_inputs=True, **keywords)


def start(n_counties: int) -> dict[str, NDArray[np.float64]]:
    """The unconstrained point at zero, as PyMC names its values."""
    import numpy as np

    return {_VALUE_NAMES[p.name]: np.zeros(p.shape) for p in layout(n_counties)}


def order(model: Any, n_counties: int) -> NDArray[np.int64]:
    """Where each entry of PyMC's raveled vector stands in our layout, shape (n,)."""
    import numpy as np

    slices = {_VALUE_NAMES[p.name]: p.slice for p in layout(n_counties)}
    every = np.arange(sum(p.size for p in layout(n_counties)))
    return np.concatenate([every[slices[v.name]] for v in model.continuous_value_vars])
