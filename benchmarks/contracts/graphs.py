"""Contracts checked by small graphs: the parts of numba's code generation that PyTensor calls."""

from __future__ import annotations

from typing import Any

from .. import workers
from . import making
from .making import Area, need, promised

_CLOSE = 1e-10

AREA = Area("graphs")


@AREA.contract(
    "an Elemwise and a sum over strided data give NumPy's numbers",
    "PyTensor writes these loops with numba's private array and codegen helpers",
)
def _elementwise_loops() -> str:
    import numpy as np
    import pytensor.tensor as pt

    x, v = pt.matrix("x"), pt.vector("v")
    values = np.linspace(0.5, 2.0, 24).reshape(8, 3)[::2]
    row = np.array([1.0, -2.0, 3.0])
    total, shifted = _call([x, v], [pt.exp(x + v).sum(axis=0), x * v], [values, row])
    _same(total, np.exp(values + row).sum(axis=0), "a sum of exponentials")
    _same(shifted, values * row, "a product of a strided matrix and a row")
    return "the numbers for a strided matrix are NumPy's"


@AREA.contract(
    "a random variable draws the numbers of NumPy's generator",
    "PyTensor passes NumPy's generators to numba by private types",
)
def _random_draws() -> str:
    import numpy as np
    import pytensor
    import pytensor.tensor as pt

    rng = pytensor.shared(np.random.default_rng(5))
    drawn = _call([], [pt.random.normal(1.0, 2.0, size=(3,), rng=rng)], [])[0]
    _same(drawn, np.random.default_rng(5).normal(1.0, 2.0, size=3), "three normal draws")
    return "the draws are those of NumPy's generator"


@AREA.contract(
    "a sparse matrix can be an input and an output",
    "PyTensor registers its own types, models and constants for sparse matrices",
)
def _sparse_matrices() -> str:
    making.need_dispatch("sparse.variable", "cannot return a sparse matrix")
    import numpy as np
    import pytensor
    import pytensor.sparse
    import scipy.sparse

    matrix = scipy.sparse.csr_matrix(np.array([[1.0, 0.0], [0.0, 4.0], [5.0, 0.0]]))
    x = pytensor.sparse.csr_matrix("x")
    given = _call([x], [x], [matrix])[0]
    need(given.format == "csr", f"a matrix went in as csr and came out as {given.format}")
    _same(given.toarray(), matrix.toarray(), "a sparse matrix")
    return "a matrix comes out as it went in"


def _factor() -> list[Any]:
    """A factored matrix, and how many functions the cache loaded and compiled."""
    import numpy as np
    import pytensor
    import pytensor.tensor as pt
    from numba.core.caching import IndexDataCacheFile
    from pytensor.tensor.slinalg import cholesky

    x = pt.matrix("x")
    values = np.array([[4.0, 2.0], [2.0, 3.0]])
    with making.following(IndexDataCacheFile, "load") as loads:
        factor = pytensor.function([x], cholesky(x), mode="NUMBA")(values)
    return [factor.tolist(), sum(data is not None for _, data in loads), len(loads)]


@AREA.contract(
    "a stored factorisation finds LAPACK when another process loads it",
    "PyTensor looks up the address in each process: a stored address would crash it",
)
def _lapack_reloaded() -> str:
    import numpy as np

    making.cache_module()
    with promised("PyTensor compiles a Cholesky factorisation with numba"):
        stored, loaded = (workers.fresh(_factor) for _ in range(2))
    expected = np.linalg.cholesky(np.array([[4.0, 2.0], [2.0, 3.0]]))
    for who, (factor, _, _) in (("stores", stored), ("loads", loaded)):
        _same(np.array(factor), expected, f"a factor, in the process that {who} it,")
    _, hits, asked = loaded
    if not stored[2] or stored[2] == stored[1]:
        raise making.unavailable("does not ask a cache for a Cholesky factorisation")
    need(hits == asked, f"of {asked} functions only {hits} were loaded")
    return f"{asked} of {stored[2]} functions were looked up and loaded, and they find LAPACK"


def _call(inputs: list[Any], outputs: list[Any], values: list[Any]) -> list[Any]:
    import pytensor

    with promised("PyTensor compiles the graph with numba"):
        results: list[Any] = pytensor.function(inputs, outputs, mode="NUMBA")(*values)
    return results


def _same(got: Any, expected: Any, what: str) -> None:
    import numpy as np

    same = np.shape(got) == np.shape(expected) and np.allclose(got, expected, _CLOSE, _CLOSE)
    need(same, f"{what} is {np.ravel(got)[:4]} where {np.ravel(expected)[:4]} is right")
