"""Equal inner graphs: the second function that has one compiles it no more, whatever wraps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import TOLERANCE, NotInThisRelease
from ..ops.case import OTHER, VECTOR, Case, Cases
from ..ops.loops import scan
from .topic import Used, topic, used

Wrapper = Callable[[Any, Any, Any, Any, float], Any]
"""Takes pytensor.tensor, two vectors, where a search begins, and a number that makes the inner
graph unlike any other."""


def _inner(library: Any, a: Any, b: Any, k: float) -> Any:
    """The inner graph; ``library`` is pytensor.tensor or numpy. Its two Ops are not fused."""
    return library.cumsum(library.exp(-a) * k) * b


def _op_from_graph(pt: Any, x: Any, y: Any, _z: Any, k: float) -> Any:
    from pytensor.compile.builders import OpFromGraph

    a, b = pt.vector("a", dtype="float64"), pt.vector("b", dtype="float64")
    return OpFromGraph([a, b], [_inner(pt, a, b, k)])(x, y)


def _made_otherwise(pt: Any, x: Any, y: Any, _z: Any, k: float) -> Any:
    """Other names, and the last operand is made first."""
    from pytensor.compile.builders import OpFromGraph

    last, first = pt.vector("q", dtype="float64"), pt.vector("p", dtype="float64")
    number = pt.constant(k)
    rest = pt.exp(-first)
    return OpFromGraph([first, last], [pt.cumsum(rest * number) * last])(x, y)


def _scan(pt: Any, x: Any, y: Any, _z: Any, k: float) -> Any:
    """One step."""
    return scan(lambda a, b: _inner(pt, a, b, k), outputs_info=[x], non_sequences=[y], n_steps=1)[
        -1
    ]


def _composite(pt: Any, x: Any, y: Any, _z: Any, k: float) -> Any:
    """No wrapper: what can be fused becomes a Composite."""
    return _inner(pt, x, y, k)


def _minimize(pt: Any, x: Any, y: Any, z: Any, k: float) -> Any:
    """The search for the value of the inner graph."""
    return _found("minimize")(((z - _inner(pt, x, y, k)) ** 2).sum(), z, method="BFGS")[0]


def _root(pt: Any, x: Any, y: Any, z: Any, k: float) -> Any:
    return _found("root")(z - _inner(pt, x, y, k), z, method="hybr")[0]


def _found(name: str) -> Any:
    """A function of PyTensor's module of searches. Raises `NotInThisRelease`."""
    try:
        from pytensor.tensor import optimize

        return getattr(optimize, name)
    except (ImportError, AttributeError) as error:
        raise NotInThisRelease(f"pytensor.tensor.optimize.{name}") from error


def _again(
    first: Wrapper,
    second: Wrapper,
    k: float,
    *,
    later: float | None = None,
    limit: float = TOLERANCE,
) -> Case:
    """A function with an inner graph, and then one that has it in another graph.

    ``k``: the number in the inner graph. ``later``: that in the second one; None: the same.
    """
    other = k if later is None else later

    def make(mode: Any) -> Used:
        import numpy as np
        import pytensor
        import pytensor.tensor as pt

        x, y, z = (pt.vector(name, dtype="float64") for name in "xyz")
        given = VECTOR.make(np), OTHER.make(np), np.zeros(5)

        def call(*outputs: Any) -> Callable[[], Any]:
            function = pytensor.function([x, y, z], outputs, mode=mode, on_unused_input="ignore")
            return lambda: tuple(function(*given))

        # The first function has all that the second one has, and something else.
        one = first(pt, x, y, z, k)
        return Used(call(one + 1.0, one[::-1]), lambda: call(second(pt, x, y, z, other)[::-1])())

    def right(np: Any, k: float) -> Any:
        return _inner(np, VECTOR.make(np), OTHER.make(np), k)

    return used(
        make,
        lambda np: (right(np, k) + 1.0, right(np, k)[::-1]),
        lambda np: (right(np, other)[::-1],),
        limit=limit,
    )


def _merged(pt: Any, x: Any, y: Any) -> Any:
    """Two equal Ops, made apart, of the same inputs."""
    return _op_from_graph(pt, x, y, None, 2.75) + _made_otherwise(pt, x, y, None, 2.75)


_ROUGH = 1e-5
"""What a search finds is as exact as its tolerance."""

CASES: Cases = {
    "op_from_graph": _again(_op_from_graph, _op_from_graph, 1.125),
    "op_from_graph.made_otherwise": _again(_op_from_graph, _made_otherwise, 1.25),
    "op_from_graph.unlike": _again(_op_from_graph, _op_from_graph, 1.375, later=1.4375),
    "op_from_graph.merged": topic(
        _merged, lambda np, x, y: 2.0 * _inner(np, x, y, 2.75), VECTOR, OTHER
    ),
    "composite": _again(_composite, _composite, 1.5),
    "scan": _again(_scan, _scan, 1.625),
    "scan_after_op_from_graph": _again(_op_from_graph, _scan, 1.75),
    "op_from_graph_after_scan": _again(_scan, _op_from_graph, 1.875),
    "op_from_graph_after_composite": _again(_composite, _op_from_graph, 2.125),
    "minimize": _again(_minimize, _minimize, 2.25, limit=_ROUGH),
    "root": _again(_root, _root, 2.375, limit=_ROUGH),
}
