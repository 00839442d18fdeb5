"""How a graph of a topic is described: what is counted of it, and how it is used further.

Model files import this module at their top, so that it imports NumPy and PyTensor in functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ... import TOLERANCE
from ..ops.case import Case, Input, case, difference

if TYPE_CHECKING:
    from ... import Vector

NODES = ("graph_nodes",)
BLOCKWISE = ("graph_nodes", "blockwise_nodes")


@dataclass(frozen=True)
class Used:
    """A function that was compiled, and what a user does with it after the first call."""

    first: Callable[[], Any]
    """Returns the value of the first call."""
    further: Callable[[], Any]
    """Returns the values of the further use. What it compiles is counted."""

    def __call__(self, _: Vector) -> Any:
        """Call it for the first time."""
        return self.first()

    def again(self) -> Any:
        """Use it further."""
        return self.further()


def topic(
    build: Callable[..., Any],
    expected: Callable[..., Any],
    *inputs: Input,
    tells: tuple[str, ...] = NODES,
    limit: float = TOLERANCE,
) -> Case:
    """Return a graph of which ``tells`` is counted; the other arguments are those of `case`."""
    return replace(case(build, expected, *inputs, limit=limit), tells=tells)


def used(
    make: Callable[[Any], Used],
    expected: Callable[[Any], Any],
    expected_again: Callable[[Any], Any],
    limit: float = TOLERANCE,
) -> Case:
    """Return functions that are used further after the first call.

    ``make`` takes the mode. The others take numpy and return the right values of both uses.
    """

    @cache
    def rights() -> tuple[Any, Any]:
        import numpy as np

        return expected(np), expected_again(np)

    return Case(
        make,
        lambda value: difference(value, rights()[0]),
        limit=limit,
        right=lambda: rights()[0],
        tells=("compiled_again",),
        error_again=lambda value: difference(value, rights()[1]),
    )


def raised(call: Callable[[], Any], *kinds: type[Exception]) -> Any:
    """Return 1.0 if the call raises one of some exceptions, and 0.0 if it returns."""
    import numpy as np

    try:
        call()
    except kinds:
        return np.array(1.0)
    return np.array(0.0)
