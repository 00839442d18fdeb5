"""IfElse is lazy: the branch that is not taken is not evaluated. A switch evaluates both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.case import OTHER, SPD, VECTOR, Case, Cases, Input
from ..ops.loops import scan
from ..ops.nested import ifelse
from .tally import tallied
from .topic import topic

_EVALUATED = ("branch_evaluations",)
_YES = Input(lambda np: np.array(True))
_NO = Input(lambda np: np.array(False))


def _lazy(build: Callable[..., Any], expected: Callable[..., Any], *inputs: Input) -> Case:
    return topic(build, expected, *inputs, tells=_EVALUATED)


def _cheap(pt: Any, c: Any, x: Any, y: Any) -> Any:
    return ifelse(c, tallied(x) * 2.0, tallied(y) + 1.0)


def _linear_algebra(pt: Any, c: Any, a: Any, x: Any) -> Any:
    """Branches that are dear, which some releases compile as graphs of their own."""
    one = pt.linalg.inv(tallied(a)) @ x[:4]
    other = pt.linalg.cholesky(tallied(a * 2.0)) @ x[1:]
    return ifelse(c, one, other)


def _two(pt: Any, c: Any, x: Any, y: Any) -> Any:
    return list(ifelse(c, [tallied(x) * 2.0, tallied(x) - 1.0], [tallied(y), tallied(y) * 3.0]))


def _nested(pt: Any, c: Any, x: Any, y: Any) -> Any:
    inner = ifelse(x[0] > 0.0, tallied(x) * 5.0, tallied(y) * 7.0)
    return ifelse(c, inner, tallied(y) + 2.0)


def _in_loop(pt: Any, c: Any, x: Any, y: Any) -> Any:
    """Three steps, each with a condition. Its branches do not depend on the state."""
    return scan(
        lambda before, x, y, c: ifelse(c, before + tallied(x), before * tallied(y)),
        outputs_info=[y],
        non_sequences=[x, y, c],
        n_steps=3,
    )[-1]


def _in_loop_state(pt: Any, c: Any, x: Any, y: Any) -> Any:
    """The same with branches that depend on the state, which no rewrite moves out of the loop."""
    return scan(
        lambda before, x, y, c: ifelse(c, tallied(before + x), tallied(before * y)),
        outputs_info=[y],
        non_sequences=[x, y, c],
        n_steps=3,
    )[-1]


def _asserted(pt: Any, c: Any, x: Any, y: Any) -> Any:
    """The branch that is not taken would raise."""
    from pytensor.raise_op import Assert

    checked = Assert("the branch that is not taken is evaluated")(y, pt.all(y > 100.0))
    return ifelse(c, x * 3.0, checked)


def _switch(pt: Any, c: Any, x: Any, y: Any) -> Any:
    return pt.switch(c, tallied(x) * 2.0, tallied(y) + 1.0)


def _right(np: Any, c: Any, x: Any, y: Any) -> Any:
    return x * 2.0 if c else y + 1.0


CASES: Cases = {
    "cheap_taken": _lazy(_cheap, _right, _YES, VECTOR, OTHER),
    "cheap_not_taken": _lazy(_cheap, _right, _NO, VECTOR, OTHER),
    "linear_algebra": _lazy(
        _linear_algebra, lambda np, _, a, x: np.linalg.solve(a, x[:4]), _YES, SPD, VECTOR
    ),
    "two_outputs": _lazy(_two, lambda np, _, x, _y: (x * 2.0, x - 1.0), _YES, VECTOR, OTHER),
    "nested": _lazy(_nested, lambda np, _, x, _y: x * 5.0, _YES, VECTOR, OTHER),
    "in_loop": _lazy(_in_loop, lambda np, _, x, y: y + 3.0 * x, _YES, VECTOR, OTHER),
    "in_loop_state": _lazy(_in_loop_state, lambda np, _, x, y: y + 3.0 * x, _YES, VECTOR, OTHER),
    "asserted": topic(_asserted, lambda np, _, x, _y: x * 3.0, _YES, VECTOR, OTHER),
    "switch": _lazy(_switch, _right, _YES, VECTOR, OTHER),
}
