"""Functions of many inputs, which all go into one node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import Graph
from ..small import Function, Member, equal_to, point
from .family import Family

_WIDTHS = (2, 5, 10, 20, 30, 40, 60)


def _family(name: str, apply: Callable[..., Any], right: Callable[..., Any]) -> Family:
    def graph(width: int) -> Graph:
        def compiled(mode: Any) -> Function:
            import pytensor
            import pytensor.tensor as pt

            symbols = [pt.vector(f"x{number}", dtype="float64") for number in range(width)]
            function = pytensor.function(symbols, apply(pt, *symbols), mode=mode, trust_input=True)
            arrays = _arrays(width)
            called: Function = lambda _: function(*arrays)  # noqa: E731
            return called

        found = Member(compiled, equal_to(lambda np, _: right(np, *_arrays(width))))
        return Graph(point(), found.compile, found.check)

    return Family(name, "inputs", _WIDTHS, graph)


def _arrays(width: int) -> list[Any]:
    return [point() + number for number in range(width)]


JOIN = _family("inputs.Join", lambda pt, *x: pt.join(0, *x), lambda np, *x: np.concatenate(x))
ADD = _family("inputs.Elemwise", lambda pt, *x: pt.add(*x), lambda _, *x: sum(x))
