"""Models written with `pm.Model` that a user takes along the path: see `benchmarks.path`.

Model files import this module at their top, so that it imports NumPy, SciPy and PyMC in functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import TOLERANCE, Errors, Graph, Model
from .path_steps import PATH_STEPS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .. import Vector

    Array = NDArray[np.float64]

Data = Mapping[str, Any]
"""Arrays by name: what the model is conditioned on."""
Point = Mapping[str, Any]
"""Arrays by the names of PyMC's variables."""
_OFFSETS = ((1, 45.0), (2, -9.0), (3, 1.0))
"""The central difference of sixth order: sum of w (f(x + kh) - f(x - kh)) / 60 h."""
_STEP = 2e-3


class Quantity(NamedTuple):
    """A free variable without a transform, and its marginal posterior.

    The numbers are those of 9,000 states of a random walk in NumPy over `PymcModel.logp`, of an
    integral, or of a formula.
    """

    name: str
    mean: float
    sd: float


class Predicted(NamedTuple):
    """The distribution of each predicted observation, given parameters."""

    mean: Any
    sd: Any


@dataclass(frozen=True)
class PymcModel:
    """A model, its data, and what NumPy and SciPy say of it."""

    make: Callable[[Any, Data], Any]
    """Takes the module pymc and data; returns a new `pm.Model`, whose observation is called y."""
    data: Callable[[int, int], Data]
    """Takes a seed and how many times as many observations to make as usual."""
    logp: Callable[[Data, Point], float]
    """The log density at a point of PyMC's unconstrained variables."""
    start: Callable[[Data], Point]
    """Where samplers start, in PyMC's unconstrained variables."""
    parameters: Callable[[Data], Point]
    """A point of the free variables at which observations are predicted."""
    predicted: Callable[[Data, Point], Predicted]
    """The distribution of the observations given such parameters."""
    quantity: Quantity
    """What draws from the posterior are compared with, for the data of seed 0."""

    def gradient(self, data: Data, point: Point) -> dict[str, Array]:
        """Return the gradient of the log density, by differences of sixth order.

        Their rounding error is some thousand units in the last place of the log density, so that a
        model with a large one computes it in extended precision.
        """
        import numpy as np

        found = {}
        for name, value in point.items():
            flat = np.asarray(value, dtype=float).ravel()
            slopes = np.zeros(flat.size, dtype=np.longdouble)
            for place in range(flat.size):
                for far, weight in _OFFSETS:
                    for sign in (1, -1):
                        moved = flat.copy()
                        moved[place] += sign * far * _STEP
                        there = {**point, name: moved.reshape(np.shape(value))}
                        slopes[place] += sign * weight * self.logp(data, there)
            slopes = slopes.reshape(np.shape(value)) / (60 * _STEP)
            found[name] = slopes.astype(float)
        return found

    def graph(self, member: str = "") -> Graph:  # noqa: ARG002 - every step begins with this graph
        """Return the graph of logp and gradient of a new model."""
        return self.density(self.data(0, 1))

    def density(self, data: Data) -> Graph:
        """Return the graph of logp and gradient of a new model with these data."""
        import numpy as np
        import pymc as pm

        model = self.make(pm, data)
        start = {name: np.asarray(value, dtype=float) for name, value in self.start(data).items()}
        names = [variable.name for variable in model.continuous_value_vars]
        # Not where samplers start: there too many terms are zero.
        at = {name: start[name] + 0.1 * np.cos(np.arange(start[name].size)).reshape(
            start[name].shape) for name in names}  # fmt: skip

        def compile_graph(mode: Any) -> Callable[[Vector], Any]:
            keywords = {} if mode is None else {"mode": mode}
            function = model.logp_dlogp_function(initial_point=start, ravel_inputs=True, **keywords)
            inner: Callable[[Vector], Any] = function._pytensor_function
            return inner

        def check(value: Any) -> Errors:
            slopes = self.gradient(data, at)
            right = np.concatenate([np.ravel(slopes[name]) for name in names])
            return errors(value[0], self.logp(data, at), value[1], right)

        return Graph(np.concatenate([np.ravel(at[name]) for name in names]), compile_graph, check)

    def explain(self, value: Any) -> str | None:
        """Return a sentence with the logp of a wrong value."""
        return f"logp is {float(value[0]):.6g}"


def path_model(meaning: str, model: Callable[[], PymcModel], size: float = 1.0) -> Model:
    """Return the record of a model that is only taken along the path."""
    return Model(
        meaning=meaning,
        reference="NumPy and SciPy; draws: their moments",
        build=lambda _: model(),
        families=("path",),
        members=tuple(PATH_STEPS),
        packages=("pymc",),
        size=size,
        order=200,
    )


def errors(logp: Any, right: float, gradient: Any = None, slopes: Any = None) -> Errors:
    """Return the relative errors of a logp, and of a gradient if there is one."""
    import numpy as np

    off = float(abs(float(logp) - right) / max(abs(right), 1e-300))
    known = None if not np.isfinite(off) else off
    wrong = known is None or known > TOLERANCE
    if slopes is None:
        return Errors(known, None, wrong)
    found = np.asarray(gradient, dtype=float)
    if found.shape != slopes.shape or not np.all(np.isfinite(found)):
        return Errors(known, None, wrong=True)
    floor = 1e-4 * np.max(np.abs(slopes))
    worst = float(np.max(np.abs(found - slopes) / np.maximum(np.abs(slopes), floor)))
    return Errors(known, worst, wrong or worst > TOLERANCE)


def normal(x: Any, mean: Any, sd: Any) -> float:
    """Return the sum of the log densities of normal distributions, in the precision of ``x``."""
    import numpy as np

    z = (np.asarray(x) - mean) / sd
    terms = -0.5 * z * z - np.log(sd) - 0.5 * np.log(2 * np.pi)
    total: float = np.sum(np.broadcast_to(terms, np.shape(z)))
    return total
