"""Pairs of random variables: of their sizes, of their dtypes and of what they are called.

A backend may draw other numbers than NumPy from one seed. So only shapes and dtypes are compared,
or what holds for every draw, such as its integer part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .draft import Draft
from .pair import Pair, differ

_SEED = 85


def _generator() -> Any:
    import numpy as np
    import pytensor

    return pytensor.shared(np.random.default_rng(_SEED))


def _draws(d: Draft, name: str, *parameters: Any, **more: Any) -> Any:
    return getattr(d.pt.random, name)(*parameters, rng=_generator(), **more)


def _dtype(name: str, *parameters: float) -> Any:
    def build(d: Draft, dtype: str) -> Any:
        given = [d.input(one, "int64" if isinstance(one, int) else "float64") for one in parameters]
        return _draws(d, name, *given, size=(3,), dtype=dtype)

    return build


def _sizes(name: str, *parameters: Any) -> Any:
    """The builder of draws with a size of one, two, ... entries."""

    def build(d: Draft, size: tuple[int, ...] | None) -> Any:
        return _draws(d, name, *map(d.input, parameters), size=size)

    return build


def _shape_of(name: str, *parameters: Any) -> Any:
    """The builder of draws whose size is symbolic, and as long as the tuple says."""

    def build(d: Draft, size: tuple[int, ...]) -> Any:
        length = d.input(size, "int64", shape=(len(size),))
        return _draws(d, name, *map(d.input, parameters), size=length)

    return build


def _parameters(d: Draft, several: bool) -> Any:
    """Static shapes (1,) and (3,) of a parameter: one broadcasts."""
    low = d.input([10.0, 20.0, 30.0] if several else [10.0], shape=(3 if several else 1,))
    high = d.input([11.0, 21.0, 31.0] if several else [11.0, 11.0, 11.0], shape=(3,))
    return d.pt.floor(_draws(d, "uniform", low, high))


def _named(d: Draft, name: str) -> Any:
    """Draws from 2 to 3, or above 3."""
    return _draws(d, name, d.input(2.0), d.input(3.0), size=(4,)) >= 3.0


def _placed(d: Draft, at: float) -> Any:
    return d.pt.floor(_draws(d, "uniform", d.constant(at), d.constant(at + 1.0), size=(4,)))


def _swapped(d: Draft, swapped: bool) -> Any:
    """Draws of a distribution without any width."""
    one, other = d.input(0.0 if swapped else 4.0), d.input(5.0 if swapped else 0.0)
    return _draws(d, "normal", *((other, one) if swapped else (one, other)), size=(3,))


def _permutation(d: Draft, of_matrix: bool) -> Any:
    return _draws(d, "permutation", d.matrix() if of_matrix else d.vector())


def _signature(d: Draft, vectors: bool) -> Any:
    """Multinomial draws of one vector of probabilities, or of a batch of two."""
    share = [[0.25, 0.75], [0.5, 0.5]] if vectors else [0.25, 0.75]
    return _draws(d, "multinomial", d.input(5, "int64"), d.input(share))


def _generators(d: Draft, both: bool) -> Any:
    """Two draws of one generator or of two: only the edges differ."""
    import numpy as np
    import pytensor

    one = pytensor.shared(np.random.default_rng(_SEED))
    other = pytensor.shared(np.random.default_rng(_SEED + 1)) if both else one
    x = d.pt.random.uniform(0.0, 1.0, size=(3,), rng=one)
    y = d.pt.random.uniform(0.0, 1.0, size=(3,), rng=other)
    # One generator draws one and the same twice.
    return d.pt.eq(x, y)


_DTYPES: Mapping[str, tuple[float, ...]] = {
    "bernoulli": (0.5,), "beta": (2.0, 3.0), "betabinom": (5, 2.0, 3.0), "binomial": (5, 0.5),
    "cauchy": (0.0, 1.0), "exponential": (2.0,), "gamma": (2.0, 3.0), "gengamma": (2.0, 1.5, 1.0),
    "geometric": (0.5,), "gumbel": (0.0, 1.0), "halfcauchy": (0.0, 1.0), "halfnormal": (0.0, 1.0),
    "hypergeometric": (5, 6, 4), "integers": (0, 9), "invgamma": (3.0, 2.0), "laplace": (0.0, 1.0),
    "logistic": (0.0, 1.0), "lognormal": (0.0, 1.0), "nbinom": (4, 0.5), "normal": (0.0, 1.0),
    "pareto": (3.0, 1.0), "poisson": (3.5,), "t": (4.0, 0.0, 1.0), "triangular": (0.0, 1.0, 2.0),
    "truncexpon": (1.0, 0.0, 1.0), "uniform": (0.0, 1.0), "vonmises": (0.0, 2.0),
    "wald": (2.0, 3.0), "weibull": (1.5,),
}  # fmt: skip
"""Random variables of numbers, each with parameters."""
_OF_INTEGERS = (
    "bernoulli", "betabinom", "binomial", "geometric", "hypergeometric", "integers", "nbinom",
    "poisson",
)  # fmt: skip


def _of_dtype(name: str) -> Pair:
    dtypes = ("int64", "int32") if name in _OF_INTEGERS else ("float64", "float32")
    return differ(_dtype(name, *_DTYPES[name]), *dtypes, compared="types")


_DIRICHLET = _sizes("dirichlet", [1.0, 2.0])
_DIRICHLET_SYMBOLIC = _shape_of("dirichlet", [1.0, 2.0])
_NORMAL = _sizes("normal", 0.0, 1.0)
_MV_NORMAL = _sizes("multivariate_normal", [1.0, 2.0], [[1.0, 0.0], [0.0, 1.0]])
_CATEGORICAL = _sizes("categorical", [0.25, 0.75])

PAIRS: Mapping[str, Pair] = {
    **{f"differ.props.{name}.dtype": _of_dtype(name) for name in _DTYPES},
    "differ.props.normal.name": differ(_named, "pareto", "uniform"),
    "differ.props.multinomial.batch": differ(_signature, False, True, compared="types"),
    "differ.props.permutation.ndim": differ(_permutation, False, True, compared="types"),
    "differ.size.dirichlet": differ(_DIRICHLET, (1,), (2,), compared="types"),
    "differ.size.dirichlet_3": differ(_DIRICHLET, (1,), (3,), compared="types"),
    "differ.size.dirichlet_none": differ(_DIRICHLET, (1,), None, compared="types"),
    "differ.size.dirichlet_ndim": differ(_DIRICHLET, (1,), (2, 3), compared="types"),
    "differ.size.dirichlet_symbolic": differ(_DIRICHLET_SYMBOLIC, (1,), (2, 3), compared="types"),
    "differ.size.normal": differ(_NORMAL, (1,), (2,), compared="types"),
    "differ.size.normal_3": differ(_NORMAL, (1,), (3,), compared="types"),
    "differ.size.normal_none": differ(_NORMAL, (1,), None, compared="types"),
    "differ.size.normal_ndim": differ(_NORMAL, (1,), (1, 2), compared="types"),
    "differ.size.normal_symbolic": differ(
        _shape_of("normal", 0.0, 1.0), (2,), (1, 2), compared="types"
    ),
    "differ.size.multivariate_normal": differ(_MV_NORMAL, (1,), (2,), compared="types"),
    "differ.size.multivariate_normal_ndim": differ(_MV_NORMAL, (1,), (1, 2), compared="types"),
    "differ.size.categorical": differ(_CATEGORICAL, (1,), (3,), compared="types"),
    "differ.size.parameters": differ(_parameters, True, False),
    "differ.draws.constants": differ(_placed, 0.0, 50.0),
    "differ.draws.edges": differ(_swapped, False, True),
    "differ.draws.generators": differ(_generators, False, True),
}
