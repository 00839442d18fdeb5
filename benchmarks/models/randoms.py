"""Random variables: the draws of each are compared with the distribution function of SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import Model
from .parts.distribution import distance
from .parts.small import Function, Member, SmallModel, in_any_release

if TYPE_CHECKING:
    from . import Vector

_DRAWS = 2000
_FURTHEST = 0.06
"""Distance from the distribution function (Kolmogorov-Smirnov); right draws exceed it once in a
million times."""


def _member(name: str, *parameters: float, true: Callable[[Any], Any]) -> Member:
    """``true``: takes scipy.stats, returns the frozen distribution."""

    def compiled(mode: Any) -> Function:
        import numpy as np
        import pytensor
        import pytensor.tensor as pt

        rng = pytensor.shared(np.random.default_rng(85))
        with in_any_release():
            draws = getattr(pt.random, name)(*parameters, size=(_DRAWS,), rng=rng)
        function = pytensor.function([], draws, mode=mode, trust_input=True)

        def draw(_: Vector) -> Any:
            return function()

        return draw

    def error(value: Any) -> float | None:
        import numpy as np
        import scipy.stats

        if np.size(value) != _DRAWS:
            return None
        return distance(value, true(scipy.stats).cdf)

    return Member(compiled, error, _FURTHEST)


_GRAPHS = {
    "uniform": _member("uniform", -1.0, 2.0, true=lambda st: st.uniform(-1.0, 3.0)),
    "normal": _member("normal", 1.0, 2.0, true=lambda st: st.norm(1.0, 2.0)),
    "halfnormal": _member("halfnormal", 0.0, 2.0, true=lambda st: st.halfnorm(0.0, 2.0)),
    "lognormal": _member("lognormal", 0.5, 0.7, true=lambda st: st.lognorm(0.7, 0, math.exp(0.5))),
    "gamma": _member("gamma", 2.0, 3.0, true=lambda st: st.gamma(2.0, scale=1 / 3.0)),
    "invgamma": _member("invgamma", 3.0, 2.0, true=lambda st: st.invgamma(3.0, scale=2.0)),
    "beta": _member("beta", 2.0, 5.0, true=lambda st: st.beta(2.0, 5.0)),
    "exponential": _member("exponential", 2.0, true=lambda st: st.expon(scale=2.0)),
    "weibull": _member("weibull", 1.5, true=lambda st: st.weibull_min(1.5)),
    "pareto": _member("pareto", 3.0, 2.0, true=lambda st: st.pareto(3.0, scale=2.0)),
    "laplace": _member("laplace", 1.0, 2.0, true=lambda st: st.laplace(1.0, 2.0)),
    "logistic": _member("logistic", 1.0, 2.0, true=lambda st: st.logistic(1.0, 2.0)),
    "gumbel": _member("gumbel", 1.0, 2.0, true=lambda st: st.gumbel_r(1.0, 2.0)),
    "cauchy": _member("cauchy", 3.0, 5.0, true=lambda st: st.cauchy(3.0, 5.0)),
    "halfcauchy": _member("halfcauchy", 1.0, 5.0, true=lambda st: st.halfcauchy(1.0, 5.0)),
    "t": _member("t", 4.0, 1.0, 2.0, true=lambda st: st.t(4.0, 1.0, 2.0)),
    "vonmises": _member("vonmises", 0.0, 2.0, true=lambda st: st.vonmises(2.0)),
    "wald": _member("wald", 2.0, 3.0, true=lambda st: st.invgauss(2.0 / 3.0, scale=3.0)),
    "triangular": _member(
        "triangular", 0.0, 1.0, 3.0, true=lambda st: st.triang(1 / 3.0, 0.0, 3.0)
    ),
    "poisson": _member("poisson", 3.5, true=lambda st: st.poisson(3.5)),
    "geometric": _member("geometric", 0.3, true=lambda st: st.geom(0.3)),
    "bernoulli": _member("bernoulli", 0.3, true=lambda st: st.bernoulli(0.3)),
    "binomial": _member("binomial", 10, 0.3, true=lambda st: st.binom(10, 0.3)),
    "nbinom": _member("nbinom", 4, 0.3, true=lambda st: st.nbinom(4, 0.3)),
}

MODEL = Model(
    meaning="graphs of one random variable each; its draws must follow its distribution function",
    reference="SciPy's distribution functions",
    build=lambda _: SmallModel(_GRAPHS),
    families=("upgrade",),
    members=tuple(_GRAPHS),
    without=("C",),
    because="C alone has no code for some of its operations; C_VM leaves those to Python",
    order=4,
)
