"""Random variables: all that PyTensor has, with parameters and sizes of several kinds.

Draws are compared with the distribution function of SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from ..distribution import distance
from .case import Case, Cases, Input, compiled

DRAWS = 1000
FURTHEST = 0.09
"""Distance from the distribution function; right draws exceed it once in five million times."""
_SEED = 85

MEANS = Input(lambda np: np.array([0.0, 5.0, -3.0]))
SCALES = Input(lambda np: np.array([1.0, 0.5, 2.5]))
LOCATION = Input(lambda np: np.array(-20.0))
SCALE = Input(lambda np: np.array(1.5))
SIZE = Input(lambda np: np.array([DRAWS, 2]), shape=(2,))
LENGTH = Input(lambda np: np.array(DRAWS))
SPREAD_MEANS = Input(lambda np: np.full((DRAWS, 1), 12.0), shape=(None, 1))
WEIGHTS = Input(lambda np: np.array([0.2, 0.5, 0.3]))
COVARIANCE = Input(lambda np: np.array([[2.0, 0.8], [0.8, 1.0]]))
CENTRE = Input(lambda np: np.array([1.0, -2.0]))
DECK = Input(lambda np: np.arange(float(DRAWS)) * 2.0 + 100.0)


def _member(
    build: Callable[..., Any],
    views: Callable[[Any], list[tuple[Callable[[Any], Any], Any]]],
    right: Callable[[Any], Any],
    *inputs: Input,
    holds: Callable[[Any], bool] = lambda _: True,
) -> Case:
    """Return the case of draws.

    ``build`` takes pytensor.tensor.random, a generator and the inputs. ``views`` takes scipy.stats
    and returns functions of the value, each with the distribution of what it returns. ``right``
    takes a generator of NumPy and returns right draws. ``holds`` tests what is true exactly.
    """

    def made(pt: Any, *x: Any) -> Any:
        import numpy as np
        import pytensor

        return build(pt.random, pytensor.shared(np.random.default_rng(_SEED)), *x)

    @cache
    def rights() -> Any:
        import numpy as np

        return np.asarray(right(np.random.default_rng(_SEED + 1)))

    @cache
    def viewed() -> list[tuple[Callable[[Any], Any], Any]]:
        import scipy.stats

        return views(scipy.stats)

    def error(value: Any) -> float | None:
        import numpy as np

        if isinstance(value, tuple) or np.shape(value) != rights().shape or not holds(value):
            return None
        value = np.asarray(value)
        found = [distance(view(value), true.cdf) for view, true in viewed()]
        return None if any(one is None for one in found) else max(o for o in found if o is not None)

    return Case(compiled(made, *inputs), error, FURTHEST, right=rights)


def _one(name: str, *parameters: float, true: Callable[[Any], Any], **options: float) -> Case:
    """Return the case of a variable with constant parameters and a constant size.

    ``true`` takes scipy.stats and returns the distribution.
    """
    return _member(
        lambda random, rng, *_: getattr(random, name)(
            *parameters, **options, size=(DRAWS,), rng=rng
        ),
        lambda stats: [(lambda value: value, true(stats))],
        _samples(true, (DRAWS,)),
    )


def _columns(build: Callable[..., Any], true: Callable[[Any], list[Any]], *inputs: Input) -> Case:
    """Return the case of a matrix of draws, each of whose columns has a distribution."""

    def views(stats: Any) -> list[tuple[Callable[[Any], Any], Any]]:
        return [(_column(number), one) for number, one in enumerate(true(stats))]

    def right(rng: Any) -> Any:
        import numpy as np
        import scipy.stats

        columns = [one.rvs(size=DRAWS, random_state=rng) for one in true(scipy.stats)]
        return np.stack(columns, axis=1)

    return _member(build, views, right, *inputs)


def _column(number: int) -> Callable[[Any], Any]:
    return lambda value: value[:, number]


def _samples(true: Callable[[Any], Any], size: tuple[int, ...]) -> Callable[[Any], Any]:
    def right(rng: Any) -> Any:
        import scipy.stats

        return true(scipy.stats).rvs(size=size, random_state=rng)

    return right


def _hypergeometric(st: Any) -> Any:
    """As a table, because some releases of SciPy return NaN between two whole numbers."""
    possible = range(201)
    return st.rv_discrete(values=(possible, st.hypergeom(700, 500, 200).pmf(possible)))


_CONSTANT: Cases = {
    "uniform": _one("uniform", -1.0, 2.0, true=lambda st: st.uniform(-1.0, 3.0)),
    "normal": _one("normal", -5.0, 2.0, true=lambda st: st.norm(-5.0, 2.0)),
    "standard_normal": _member(
        lambda random, rng: random.standard_normal(size=(DRAWS,), rng=rng),
        lambda st: [(lambda value: value, st.norm())],
        lambda rng: rng.normal(size=DRAWS),
    ),
    "halfnormal": _one("halfnormal", 8.0, 2.0, true=lambda st: st.halfnorm(8.0, 2.0)),
    "lognormal": _one("lognormal", 3.5, 0.7, true=lambda st: st.lognorm(0.7, 0, math.exp(3.5))),
    "gamma": _one("gamma", 2.0, scale=100.0, true=lambda st: st.gamma(2.0, scale=100.0)),
    "gengamma": _one(
        "gengamma", 4.0, 2.0, 500.0, true=lambda st: st.gengamma(2.0, 2.0, scale=500.0)
    ),
    "invgamma": _one("invgamma", 3.0, 0.02, true=lambda st: st.invgamma(3.0, scale=0.02)),
    "chisquare": _one("chisquare", 60.0, true=lambda st: st.chi2(60.0)),
    "beta": _one("beta", 2.0, 9.0, true=lambda st: st.beta(2.0, 9.0)),
    "exponential": _one("exponential", 0.002, true=lambda st: st.expon(scale=0.002)),
    "truncexpon": _one(
        "truncexpon", 2.0, 300.0, 20.0, true=lambda st: st.truncexpon(2.0, 300.0, 20.0)
    ),
    "weibull": _one("weibull", 8.0, true=lambda st: st.weibull_min(8.0)),
    "pareto": _one("pareto", 3.0, 0.1, true=lambda st: st.pareto(3.0, scale=0.1)),
    "laplace": _one("laplace", -50.0, 2.0, true=lambda st: st.laplace(-50.0, 2.0)),
    "logistic": _one("logistic", -80.0, 2.0, true=lambda st: st.logistic(-80.0, 2.0)),
    "gumbel": _one("gumbel", -110.0, 2.0, true=lambda st: st.gumbel_r(-110.0, 2.0)),
    "cauchy": _one("cauchy", -400.0, 5.0, true=lambda st: st.cauchy(-400.0, 5.0)),
    "halfcauchy": _one("halfcauchy", 4000.0, 5.0, true=lambda st: st.halfcauchy(4000.0, 5.0)),
    "t": _one("t", 4.0, -150.0, 2.0, true=lambda st: st.t(4.0, -150.0, 2.0)),
    "vonmises": _one("vonmises", -1.0, 30.0, true=lambda st: st.vonmises(30.0, loc=-1.0)),
    "wald": _one("wald", 20.0, 30.0, true=lambda st: st.invgauss(20.0 / 30.0, scale=30.0)),
    "triangular": _one(
        "triangular", 600.0, 700.0, 900.0, true=lambda st: st.triang(1 / 3.0, 600.0, 300.0)
    ),
    "poisson": _one("poisson", 3.5, true=lambda st: st.poisson(3.5)),
    "geometric": _one("geometric", 0.7, true=lambda st: st.geom(0.7)),
    "bernoulli": _one("bernoulli", 0.3, true=lambda st: st.bernoulli(0.3)),
    "binomial": _one("binomial", 40, 0.3, true=lambda st: st.binom(40, 0.3)),
    "betabinom": _one("betabinom", 30, 9.0, 2.0, true=lambda st: st.betabinom(30, 9.0, 2.0)),
    "nbinom": _one("nbinom", 40, 0.3, true=lambda st: st.nbinom(40, 0.3)),
    "hypergeometric": _one("hypergeometric", 500, 200, 200, true=_hypergeometric),
    "integers": _one("integers", 1000, 1200, true=lambda st: st.randint(1000, 1200)),
}


def _of_multivariate_normal(st: Any) -> list[tuple[Callable[[Any], Any], Any]]:
    return [
        (_column(0), st.norm(1.0, math.sqrt(2.0))),
        (_column(1), st.norm(-2.0, 1.0)),
        (lambda value: value[:, 0] - value[:, 1], st.norm(3.0, math.sqrt(1.4))),
    ]


def _of_dirichlet(st: Any) -> list[tuple[Callable[[Any], Any], Any]]:
    return [(_column(0), st.beta(2.0, 8.0)), (_column(1), st.beta(5.0, 5.0))]


def _of_multinomial(st: Any) -> list[tuple[Callable[[Any], Any], Any]]:
    return [(_column(i), st.binom(20, p)) for i, p in enumerate((0.2, 0.5, 0.3))]


def _sums_to(total: float) -> Callable[[Any], bool]:
    return lambda value: bool((abs(value.sum(axis=1) - total) < 1e-9).all())


def _is_deck(value: Any) -> bool:
    import numpy as np

    return bool((np.sort(value) == DECK.make(np)).all())


def _first_half(st: Any) -> list[tuple[Callable[[Any], Any], Any]]:
    """The first half of a shuffled deck, which must not be the lower half."""
    return [(lambda value: value[: DRAWS // 2], st.uniform(100.0, 2.0 * DRAWS))]


def _faces(st: Any, values: tuple[float, ...]) -> list[tuple[Callable[[Any], Any], Any]]:
    """``st`` is scipy.stats; the weights are those of the input."""
    import numpy as np

    def number(value: Any) -> Any:
        return np.searchsorted(values, value)

    true = st.rv_discrete(values=(range(3), (0.2, 0.5, 0.3)))
    return [(number, true)]


_SEVERAL: Cases = {
    "multivariate_normal": _member(
        lambda random, rng, mean, cov: random.multivariate_normal(
            mean, cov, size=(DRAWS,), rng=rng
        ),
        _of_multivariate_normal,
        lambda rng: rng.multivariate_normal([1.0, -2.0], [[2.0, 0.8], [0.8, 1.0]], DRAWS),
        CENTRE, COVARIANCE,
    ),
    "dirichlet": _member(
        lambda random, rng, x: random.dirichlet(x * 10.0, size=(DRAWS,), rng=rng),
        _of_dirichlet,
        lambda rng: rng.dirichlet([2.0, 5.0, 3.0], DRAWS),
        WEIGHTS,
        holds=_sums_to(1.0),
    ),
    "dirichlet.symbolic_size": _member(
        lambda random, rng, x, n: random.dirichlet(x * 30.0, size=(n,), rng=rng),
        lambda st: [(_column(0), st.beta(6.0, 24.0)), (_column(1), st.beta(15.0, 15.0))],
        lambda rng: rng.dirichlet([6.0, 15.0, 9.0], DRAWS),
        WEIGHTS, LENGTH,
        holds=_sums_to(1.0),
    ),
    "multinomial": _member(
        lambda random, rng, p: random.multinomial(20, p, size=(DRAWS,), rng=rng),
        _of_multinomial,
        lambda rng: rng.multinomial(20, [0.2, 0.5, 0.3], DRAWS),
        WEIGHTS,
        holds=_sums_to(20.0),
    ),
    "categorical": _member(
        lambda random, rng, p: random.categorical(p, size=(DRAWS,), rng=rng),
        lambda st: _faces(st, (0.0, 1.0, 2.0)),
        lambda rng: rng.choice(3, DRAWS, p=[0.2, 0.5, 0.3]),
        WEIGHTS,
    ),
    "permutation": _member(
        lambda random, rng, x: random.permutation(x, rng=rng),
        _first_half,
        lambda rng: rng.permutation(_deck()),
        DECK,
        holds=_is_deck,
    ),
    "choice": _member(
        lambda random, rng, x: random.choice(x, size=(DRAWS,), rng=rng),
        lambda st: [(lambda value: value, st.uniform(100.0, 2.0 * DRAWS))],
        lambda rng: rng.choice(_deck(), DRAWS),
        DECK,
        holds=lambda value: not _is_deck(value),
    ),
    "choice.weights": _member(
        lambda random, rng, x, p: random.choice(x, size=(DRAWS,), p=p, rng=rng),
        lambda st: _faces(st, (-3.0, 0.0, 5.0)),
        lambda rng: rng.choice([-3.0, 0.0, 5.0], DRAWS, p=[0.2, 0.5, 0.3]),
        Input(lambda np: np.array([-3.0, 0.0, 5.0])), WEIGHTS,
        holds=lambda value: bool(((value == -3.0) | (value == 0.0) | (value == 5.0)).all()),
    ),
    "choice.without_replacement": _member(
        lambda random, rng, x: random.choice(
            x, size=(DRAWS // 2,), replace=False, rng=rng
        ),
        lambda st: [(lambda value: value, st.uniform(100.0, 2.0 * DRAWS))],
        lambda rng: rng.choice(_deck(), DRAWS // 2, replace=False),
        DECK,
        holds=lambda value: len(set(value.tolist())) == DRAWS // 2,
    ),
}  # fmt: skip


def _deck() -> Any:
    import numpy as np

    return DECK.make(np)


_SYMBOLIC: Cases = {
    "normal.symbolic_parameters": _member(
        lambda random, rng, mean, sd: random.normal(mean, sd, size=(DRAWS,), rng=rng),
        lambda st: [(lambda value: value, st.norm(-20.0, 1.5))],
        lambda rng: rng.normal(-20.0, 1.5, DRAWS),
        LOCATION, SCALE,
    ),
    "normal.vector_parameters": _columns(
        lambda random, rng, mean, sd: random.normal(mean, sd, size=(DRAWS, 3), rng=rng),
        lambda st: [st.norm(0.0, 1.0), st.norm(5.0, 0.5), st.norm(-3.0, 2.5)],
        MEANS, SCALES,
    ),
    "normal.symbolic_size": _columns(
        lambda random, rng, size: random.normal(30.0, 2.0, size=size, rng=rng),
        lambda st: [st.norm(30.0, 2.0)] * 2,
        SIZE,
    ),
    "normal.no_size": _columns(
        lambda random, rng, mean, sd: random.normal(mean, sd, rng=rng),
        lambda st: [st.norm(12.0, 1.0), st.norm(12.0, 0.5), st.norm(12.0, 2.5)],
        SPREAD_MEANS, SCALES,
    ),
    "gamma.vector_parameters": _columns(
        lambda random, rng, a: random.gamma(a + 1.0, scale=2.0, size=(DRAWS, 3), rng=rng),
        lambda st: [st.gamma(a, scale=2.0) for a in (2.0, 1.5, 3.5)],
        SCALES,
    ),
    "gamma.symbolic_size": _columns(
        lambda random, rng, size: random.gamma(2.0, scale=1 / 3.0, size=size, rng=rng),
        lambda st: [st.gamma(2.0, scale=1 / 3.0)] * 2,
        SIZE,
    ),
    "poisson.vector_parameters": _columns(
        lambda random, rng, mean: random.poisson(mean * 4.0, size=(DRAWS, 3), rng=rng),
        lambda st: [st.poisson(4.0), st.poisson(2.0), st.poisson(10.0)],
        SCALES,
    ),
    "poisson.symbolic_size": _columns(
        lambda random, rng, size: random.poisson(25.0, size=size, rng=rng),
        lambda st: [st.poisson(25.0)] * 2,
        SIZE,
    ),
    "multivariate_normal.symbolic_size": _member(
        lambda random, rng, mean, cov, n: random.multivariate_normal(
            mean + 50.0, cov, size=(n,), rng=rng
        ),
        lambda st: [
            (_column(0), st.norm(51.0, math.sqrt(2.0))),
            (lambda value: value[:, 0] - value[:, 1], st.norm(3.0, math.sqrt(1.4))),
        ],
        lambda rng: rng.multivariate_normal([51.0, 48.0], [[2.0, 0.8], [0.8, 1.0]], DRAWS),
        CENTRE, COVARIANCE, LENGTH,
    ),
}  # fmt: skip

CASES: Cases = {**_CONSTANT, **_SEVERAL, **_SYMBOLIC}
