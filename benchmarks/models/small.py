"""Models of small graphs: what is compiled, and what it must return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.models.reference import Errors, relative_error
from benchmarks.vocabulary import BASE_VARIANT, TOLERANCE

Vector = NDArray[np.float64]
Function = Callable[[Vector], Any]

POINT: Vector = np.array([0.75, -1.5, 2.25, 3.0, -0.5])


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

    def graph(self, member: str = BASE_VARIANT) -> SmallGraph:
        """One member; the first where the base is asked for."""
        name = next(iter(self.members)) if member == BASE_VARIANT else member
        return SmallGraph(self.members[name], POINT.copy())

    def explain(self, value: Any) -> str | None:
        """Whose value it is, if it is another member's."""
        shown = np.array2string(np.asarray(value), precision=6, threshold=8)
        for name, member in self.members.items():
            error = member.error(value)
            if error is not None and error <= member.limit:
                return f"{shown} is what {name} returns"
        return f"the value is {shown}"


def equal_to(expected: Function) -> Callable[[Any], float | None]:
    """The largest relative error of an entry against NumPy's value at the point."""

    def error(value: Any) -> float | None:
        found = np.asarray(value, dtype=float)
        right = np.asarray(expected(POINT), dtype=float)
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
