"""The radon model as a PyTensor graph: hierarchical regression with zero-sum county effects.

Written from the definition of the model, in the way PyMC lowers it: a log density per term,
summed, canonicalised, differentiated, and joined over one flat input vector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import Graph, Model
from .parts.radon_data import VARIANTS, RadonData, Variant, layout, load, point

if TYPE_CHECKING:
    from . import Vector


@dataclass(frozen=True)
class Radon:
    """Makes the graphs of the eight variants."""

    data: RadonData

    def graph(self, member: str = "") -> Graph:
        """Return a new graph of one variant; of the base if none is named."""
        from .parts import reference

        inputs, outputs = build(self.data, Variant.named(member))
        where = point(self.data.n_counties)
        right = reference.evaluate(self.data, Variant.named(member), where)

        return Graph(where, compiled_in(inputs, outputs), lambda value: right.errors(*value))

    def explain(self, value: Any) -> str | None:
        """Return which variant a wrong value belongs to, or its logp."""
        from .parts import reference

        where = point(self.data.n_counties)
        for name in VARIANTS:
            right = reference.evaluate(self.data, Variant.named(name), where)
            if not right.errors(value[0], right.gradient).wrong:
                return f"logp {float(value[0]):.6g} is that of {name}"
        return f"logp is {float(value[0]):.6g}"


MODEL = Model(
    meaning="hierarchical regression of 919 radon measurements in 85 counties, in plain PyTensor",
    reference="NumPy",
    build=lambda data: Radon(load(data)),
    families=("build", "variants", "siblings", "upgrade", "call"),
    members=VARIANTS,
    canary=("siblings fork",),
    order=0,
)


def build(data: RadonData, variant: Variant) -> tuple[Any, list[Any]]:
    """Return the flat input vector and [logp, gradient]: symbolic, shapes (n,) -> (), (n,)."""
    import pytensor.tensor as pt
    from pytensor.graph.replace import graph_replace

    parameters = layout(data.n_counties)
    values = {p.name: pt.tensor(p.name, shape=p.shape, dtype="float64") for p in parameters}
    logp = _rewritten(pt.sum([term.sum() for term in _terms(data, variant, values)]))
    gradient = pt.concatenate(
        [term.ravel() for term in pt.grad(logp, [values[p.name] for p in parameters])]
    )

    joined = pt.vector("joined", shape=(sum(p.size for p in parameters),), dtype="float64")
    slices = {values[p.name]: joined[p.slice].reshape(p.shape) for p in parameters}
    return joined, graph_replace([logp, gradient], slices)


def compiled_in(inputs: Any, outputs: Any) -> Callable[[Any], Callable[[Vector], Any]]:
    """Return a function that compiles what `build` returned in a mode."""

    def compile_graph(mode: Any) -> Callable[[Vector], Any]:
        import pytensor

        function: Callable[[Vector], Any] = pytensor.function(
            [inputs], outputs, mode=mode, trust_input=True
        )
        return function

    return compile_graph


def _rewritten(logp: Any) -> Any:
    try:
        from pytensor.graph.rewriting import rewrite_graph
    except ImportError:  # it moved in 2.36
        from pytensor.graph.rewriting.utils import rewrite_graph
    return rewrite_graph(logp, include=("canonicalize", "stabilize"), clone=False)


def _terms(data: RadonData, variant: Variant, values: dict[str, Any]) -> list[Any]:
    """The log densities whose sum is the model's, each a symbolic scalar or vector."""
    import numpy as np
    import pytensor.tensor as pt

    terms = []

    def normal(value: Any, mu: Any, sigma: Any) -> Any:
        return -0.5 * ((value - mu) / sigma) ** 2 - pt.log(np.sqrt(2 * np.pi)) - pt.log(sigma)

    def half_normal(log_value: Any) -> Any:
        value = pt.exp(log_value)
        density = -0.5 * value**2 + pt.log(np.sqrt(2 / np.pi))
        terms.append(pt.switch(value >= 0, density, -np.inf) + log_value)
        return value

    def log_normal(log_value: Any, sigma: float) -> Any:
        terms.append(normal(log_value, 0.0, sigma))
        return pt.exp(log_value)

    def zero_sum_normal(raw: Any, sigma: Any) -> Any:
        n = raw.shape[0] + 1
        total = raw.sum(0, keepdims=True)
        norm = total / (pt.sqrt(n) + n)
        effects = pt.concatenate([raw, norm - total / pt.sqrt(n)]) - norm
        free = (effects.shape[0] - 1) / effects.shape[0]
        normalisation = (pt.log(np.sqrt(2 * np.pi)) + pt.log(sigma)) * free
        terms.append(pt.sum(-0.5 * (effects / sigma) ** 2 - normalisation))
        return effects

    def county_effect(name: str) -> Any:
        sd = half_normal(values[f"{name}_sd"])
        if variant.centered:
            return zero_sum_normal(values[f"{name}_raw"], sd)
        return zero_sum_normal(values[f"{name}_raw"], 1.0) * sd

    if variant.lognormal_intercept:
        intercept = log_normal(values["intercept"], 10.0)
    else:
        intercept = values["intercept"]
        terms.append(normal(intercept, 0.0, 10.0))
    county = county_effect("county")
    floor_effect = values["floor_effect"]
    terms.append(normal(floor_effect, 0.0, 2.0))
    county_floor = county_effect("county_floor")
    if variant.lognormal_sigma:
        sigma = log_normal(values["sigma"], 1.0)
    else:
        sigma = half_normal(values["sigma"])

    mu = (
        intercept
        + county[data.county]
        + floor_effect * data.floor
        + county_floor[data.county] * data.floor
    )
    terms.append(normal(pt.as_tensor(data.log_radon), mu, sigma))
    return terms
