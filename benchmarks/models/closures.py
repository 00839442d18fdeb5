"""numba functions that another library may store beside PyTensor's: PyTensor compiles none of them.

Their names and signatures are equal, and so are their symbols but for the counter that PyTensor
replaces. Each member is a cached function that calls an overload, whose implementation closes over
a number and is linked into the object code of its caller. If two implementations have one symbol,
a process that loads both callers uses the first implementation for both. They are too long to be
inlined, because an inlined function needs no symbol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import Model
from .parts.small import Function, Member, SmallModel, equal_to

if TYPE_CHECKING:
    from . import Vector


def _times(number: float) -> Function:
    import numpy as np

    def implementation(x: Vector) -> Any:
        found = np.empty_like(x)
        for i in range(len(x)):
            total = 0.0
            for j in range(len(x)):
                total += np.exp(np.sin(x[j]) * number) * (i + 1) / (1.0 + abs(x[j] - x[i]))
            found[i] = total
        return found

    return implementation


def _plus(number: float) -> Function:
    import numpy as np

    def implementation(x: Vector) -> Any:
        found = np.empty_like(x)
        for i in range(len(x)):
            total = number
            for j in range(len(x)):
                total += np.cos(x[j] + number) * (i + 1) / (1.0 + abs(x[j] - x[i]))
            found[i] = total
        return found

    return implementation


# The overloaded functions and their callers stand in the module: numba does not cache a function
# that closes over another one.
def _times_2(x: Vector) -> Any: ...
def _times_3(x: Vector) -> Any: ...
def _plus_2(x: Vector) -> Any: ...
def _plus_3(x: Vector) -> Any: ...


def _calling_times_2(x: Vector) -> Any:
    return _times_2(x)


def _calling_times_3(x: Vector) -> Any:
    return _times_3(x)


def _calling_plus_2(x: Vector) -> Any:
    return _plus_2(x)


def _calling_plus_3(x: Vector) -> Any:
    return _plus_3(x)


def _member(
    calling: Function, overloaded: Function, make: Callable[[float], Function], number: float
) -> Member:
    def compiled(_: Any) -> Function:
        import numba
        from numba.extending import overload

        # Not strict: the implementation has annotations that the lambda cannot have.
        overload(overloaded, strict=False)(lambda x: make(number))  # noqa: ARG005
        function: Function = numba.njit(cache=True)(calling)
        return function

    return Member(compiled, equal_to(lambda _, x: make(number)(x)))


_GRAPHS = {
    "times_2": _member(_calling_times_2, _times_2, _times, 2.0),
    "times_3": _member(_calling_times_3, _times_3, _times, 3.0),
    "plus_2": _member(_calling_plus_2, _plus_2, _plus, 2.0),
    "plus_3": _member(_calling_plus_3, _plus_3, _plus, 3.0),
}

MODEL = Model(
    meaning="numba overloads with the same name, which close over different numbers",
    reference="the same function in Python",
    build=lambda _: SmallModel(_GRAPHS),
    families=("siblings",),
    members=tuple(_GRAPHS),
    only=("NUMBA",),
    because="its functions are compiled by numba itself",
    canary=("*",),
    size=0.15,
    order=3,
)
