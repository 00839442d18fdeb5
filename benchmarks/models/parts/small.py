"""Models of small graphs: what is compiled, and what it must return.

Model files import this module at their top, so that it imports NumPy and PyTensor in functions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import TOLERANCE, Errors, Graph

if TYPE_CHECKING:
    from .. import Vector

Function = Callable[["Vector"], Any]
POINT = (0.75, -1.5, 2.25, 3.0, -0.5)


def point() -> Vector:
    """Return the vector at which every small graph is evaluated, shape (5,)."""
    import numpy as np

    return np.array(POINT)


def repeated(apply: Callable[[Any, Any], Any], number: int) -> Callable[[Any, Any], Any]:
    """Return a chain of one operation; ``apply`` takes NumPy or pytensor.tensor, and a vector."""

    def built(library: Any, x: Any) -> Any:
        for _ in range(number):
            x = apply(library, x)
        return x

    return built


@contextmanager
def in_any_release() -> Iterator[None]:
    """Make a graph without warnings.

    The graphs use what all releases have, of which the newest ones say that it will end. With
    warnings as errors, only what PyTensor says while it compiles must raise.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True)
class Member:
    """One graph: how it is compiled, and the error of a value."""

    compile: Callable[[Any], Function]
    """Takes the mode and returns the function of the point."""
    error: Callable[[Any], float | None]
    """Returns the error of a value; None: not finite, or of another shape."""
    limit: float = TOLERANCE
    """The largest error of a right value."""
    tells: tuple[str, ...] = ()
    """The further metrics that are counted of it."""
    error_again: Callable[[Any], float | None] | None = None
    """Returns the error of what its further use returned; None: it has no further use."""

    def check(self, value: Any) -> Errors:
        """Return the error of a value; there is no gradient."""
        return self._errors(self.error(value))

    def graph(self) -> Graph:
        """Return a new graph of this member."""
        again = self.error_again
        check = None if again is None else lambda value: self._errors(again(value))
        return Graph(point(), self.compile, self.check, self.tells, check)

    def _errors(self, error: float | None) -> Errors:
        return Errors(error, None, wrong=error is None or not error <= self.limit)


@dataclass(frozen=True)
class SmallModel:
    """A model of small graphs."""

    members: Mapping[str, Member]

    def graph(self, member: str = "") -> Graph:
        """Return a new graph of one member; of the first if none is named."""
        return self.members[member or next(iter(self.members))].graph()

    def explain(self, value: Any) -> str | None:
        """Return which member a wrong value belongs to, or the value itself."""
        import numpy as np

        # A graph of several outputs returns a tuple of them.
        shown = " and ".join(
            np.array2string(np.asarray(each), precision=6, threshold=8)
            for each in (value if isinstance(value, tuple) else (value,))
        )
        for name, member in self.members.items():
            if not member.check(value).wrong:
                return f"{shown} is what {name} returns"
        return f"the value is {shown}"


def equal_to(expected: Callable[[Any, Vector], Any]) -> Callable[[Any], float | None]:
    """Return a function that gives the largest relative error of an entry of a value.

    ``expected`` takes numpy and the point, and returns the right value.
    """

    def error(value: Any) -> float | None:
        import numpy as np

        from .reference import relative_error

        return relative_error(value, expected(np, point()))

    return error


def in_pytensor(build: Callable[[Any, Any], Any]) -> Callable[[Any], Function]:
    """Return a function that compiles a graph of one vector in a mode.

    ``build`` takes pytensor.tensor and the symbolic vector, and returns the output.
    """

    def compiled(mode: Any) -> Function:
        import pytensor
        import pytensor.tensor as pt

        x = pt.vector("x", dtype="float64")
        function: Function = pytensor.function(
            [x], build(pt, x), mode=mode, trust_input=True, on_unused_input="ignore"
        )
        return function

    return compiled
