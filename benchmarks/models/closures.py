"""Functions of numba's own users: one qualified name, one signature, other numbers inside.

PyTensor compiles none of them. They are what a user's module or another library stores beside its
functions, under symbols that numba numbers with the counter that PyTensor has replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.models.small import Function, Member, SmallModel, Vector, equal_to


def _times(number: float) -> Function:
    def inner(x: Vector) -> Any:
        return x * number

    return inner


def _plus(number: float) -> Function:
    def inner(x: Vector) -> Any:
        return x + number

    return inner


def _member(make: Callable[[float], Function], number: float) -> Member:
    def compiled(_: Any) -> Function:
        import numba

        function: Function = numba.njit(cache=True)(make(number))
        return function

    return Member(compiled, equal_to(make(number)))


MODEL = SmallModel(
    {
        "times_2": _member(_times, 2.0),
        "times_3": _member(_times, 3.0),
        "plus_2": _member(_plus, 2.0),
        "plus_3": _member(_plus, 3.0),
    }
)
