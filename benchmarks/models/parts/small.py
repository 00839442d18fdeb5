"""Models of small graphs: what is compiled, and what it must return.

Model files import this module at their top: it imports NumPy and PyTensor inside functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.models import TOLERANCE, Errors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

Function = Callable[["Vector"], Any]
POINT = (0.75, -1.5, 2.25, 3.0, -0.5)


def point() -> Vector:
    """The vector at which every small graph is evaluated, shape (5,)."""
    import numpy as np

    return np.array(POINT)


@dataclass(frozen=True)
class Member:
    """One graph: how it is compiled in a mode, and how far a value of it is off."""

    compile: Callable[[Any], Function]
    error: Callable[[Any], float | None]
    """Of a value; None: not finite, or of another shape."""
    limit: float = TOLERANCE
    """The largest error of a right value."""


@dataclass(frozen=True)
class SmallGraph:
    """A member that is about to be compiled."""

    member: Member
    point: Vector

    def compile(self, mode: Any) -> Function:
        """Compile: a function of the point."""
        return self.member.compile(mode)

    def check(self, value: Any) -> Errors:
        """The error of the value; there is no gradient."""
        error = self.member.error(value)
        return Errors(error, None, wrong=error is None or error > self.member.limit)


@dataclass(frozen=True)
class SmallModel:
    """Members by name."""

    members: Mapping[str, Member]

    def graph(self, member: str = "") -> SmallGraph:
        """One member; the first if none is named."""
        return SmallGraph(self.members[member or next(iter(self.members))], point())

    def explain(self, value: Any) -> str | None:
        """Whose value it is, if it is another member's."""
        import numpy as np

        shown = np.array2string(np.asarray(value), precision=6, threshold=8)
        for name, member in self.members.items():
            error = member.error(value)
            if error is not None and error <= member.limit:
                return f"{shown} is what {name} returns"
        return f"the value is {shown}"


def equal_to(expected: Callable[[Any, Vector], Any]) -> Callable[[Any], float | None]:
    """The largest relative error of an entry of a value.

    ``expected`` takes numpy and the point, and returns what is right.
    """

    def error(value: Any) -> float | None:
        import numpy as np

        from benchmarks.models.parts.reference import relative_error

        found = np.asarray(value, dtype=float)
        right = np.asarray(expected(np, point()), dtype=float)
        return relative_error(found, right) if found.shape == right.shape else None

    return error


def in_pytensor(build: Callable[[Any, Any], Any]) -> Callable[[Any], Function]:
    """A function of one vector. ``build`` takes pytensor.tensor and the vector."""

    def compiled(mode: Any) -> Function:
        import pytensor
        import pytensor.tensor as pt

        x = pt.vector("x", dtype="float64")
        function: Function = pytensor.function(
            [x], build(pt, x), mode=mode, trust_input=True, on_unused_input="ignore"
        )
        return function

    return compiled
