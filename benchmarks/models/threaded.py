"""A user's own Op that runs in threads: PyTensor itself never asks numba for `parallel`.

Its dispatch compiles a loop over `prange` with `parallel=True`. numba makes a function of the body
of such a loop, which the threads of a pool call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import Model, NotInThisRelease
from .parts.small import Function, Member, SmallModel, equal_to, in_pytensor

if TYPE_CHECKING:
    from . import Vector


def _squares() -> Function:
    import numba
    import numpy as np

    def squares(x: Vector) -> Any:
        found = np.empty_like(x)
        for i in numba.prange(len(x)):
            found[i] = x[i] * x[i]
        return found

    return squares


def _total() -> Function:
    import numba
    import numpy as np

    def total(x: Vector) -> Any:
        found = 0.0
        for i in numba.prange(len(x)):
            found += np.exp(x[i])
        return np.array([found])

    return total


def _graph(make: Callable[[], Function]) -> Callable[[Any], Function]:
    """A graph of one Op whose dispatch compiles the loop that ``make`` returns, in threads."""

    def compiled(mode: Any) -> Function:
        from pytensor.graph.basic import Apply
        from pytensor.graph.op import Op
        from pytensor.link.numba.dispatch import basic

        if not hasattr(basic, "register_funcify_default_op_cache_key"):
            raise NotInThisRelease("register_funcify_default_op_cache_key")

        class Threaded(Op):  # type: ignore[misc]
            __props__ = ("name",)

            def __init__(self, name: str) -> None:
                self.name = name

            def make_node(self, x: Any) -> Any:
                return Apply(self, [x], [x.type()])

            def perform(self, _: Any, inputs: Any, outputs: Any) -> None:
                outputs[0][0] = make()(*inputs)

        @basic.register_funcify_default_op_cache_key(Threaded)  # type: ignore[untyped-decorator]
        def funcify(*_: Any, **__: Any) -> Any:
            return basic.numba_njit(parallel=True)(make())

        return in_pytensor(lambda pt, x: Threaded(make.__name__)(pt.exp(x)) + 1.0)(mode)

    return compiled


_GRAPHS = {
    "squares": Member(_graph(_squares), equal_to(lambda np, x: np.exp(x) ** 2 + 1)),
    "total": Member(
        _graph(_total), equal_to(lambda np, x: np.array([np.exp(np.exp(x)).sum() + 1]))
    ),
}

MODEL = Model(
    meaning="a user's own Op whose loop runs in threads of numba",
    reference="NumPy",
    build=lambda _: SmallModel(_GRAPHS),
    families=("build", "siblings"),
    members=tuple(_GRAPHS),
    only=("NUMBA",),
    because="its loop is compiled by numba",
    size=0.4,
)
