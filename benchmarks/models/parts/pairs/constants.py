"""Pairs that differ in a constant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .draft import Draft, module
from .numba_ops import times_first
from .pair import OF_NUMBA, Pair, differ


def _scaled(make: Callable[[Any, Any], Any]) -> Callable[[Draft, Any], Any]:
    """The builder of a product of a number and a constant; ``make`` takes numpy and the case."""

    def build(d: Draft, case: Any) -> Any:
        import numpy as np

        return d.pt.constant(make(np, case)) * d.input(1.0)

    return build


def _kept(make: Callable[[Any, Any], Any]) -> Callable[[Draft, Any], Any]:
    """The same with an Op that keeps the dtype of the constant."""

    def build(d: Draft, case: Any) -> Any:
        import numpy as np

        return d.pt.constant(make(np, case))[:: d.input(1, "int64")]

    return build


def _last_bit(d: Draft, steps: int) -> Any:
    """Times 2**52, the last bit is one."""
    import numpy as np

    constant = d.pt.constant(np.array([1.0, 1.0 + steps * np.finfo(float).eps]))
    return (constant * d.input([1.0, 1.0]) - d.input(1.0)) * d.input(2.0**52)


def _scalar_last_bit(d: Draft, steps: int) -> Any:
    import numpy as np

    constant = d.pt.constant(np.float64(1.5 + steps * np.finfo(float).eps))
    return (constant * d.input([1.0, 1.0]) - d.input(1.5)) * d.input(2.0**52)


def _zero(d: Draft, zero: float) -> Any:
    """A quotient shows the sign; another entry keeps the rewrites from taking zero as zero."""
    return d.input([1.0, 1.0]) / (d.input([1.0, 1.0]) * d.constant([zero, 2.0]))


def _scalar_zero(d: Draft, zero: float) -> Any:
    return d.input([1.0, 1.0]) / d.pt.switch(d.input([1, 0], "bool"), d.constant(zero), 2.0)


def _two(d: Draft, constants: tuple[float, float]) -> Any:
    return d.pt.exp(d.vector() * constants[0]) - d.constant([constants[1]] * 5)


def _alone(d: Draft, value: float) -> Any:
    """A function that returns a constant."""
    return [d.constant([value, 1.0]), d.pt.exp(d.vector())]


def _index(d: Draft, rows: list[int]) -> Any:
    return d.square()[d.constant(rows, "int64")]


def _slice(d: Draft, stop: int) -> Any:
    return d.vector()[: d.constant(stop, "int64")] * 2.0


def _exponent(d: Draft, exponent: float) -> Any:
    """Rewrites make other Ops of small exponents than of these."""
    return d.input([1.5, 2.5]) ** d.constant(exponent)


def _number(make: Callable[[Any, Any], Any]) -> Callable[[Draft, Any], Any]:
    """The builder of an Op whose key has no types, and which returns a constant number.

    The number is no array: its type is that of an Op's scalar.
    """

    def build(d: Draft, case: Any) -> Any:
        import numpy as np

        scalars = module("scalar")
        x = d.given(scalars.float64("x"), np.float64(2.0))
        return scalars.second(x, scalars.constant(make(np, case)))

    return build


def _part_of_list(d: Draft, stop: int) -> Any:
    """How long a part of a list is, whose slice is one constant."""
    lists = module("typed_list")
    return lists.length(lists.getitem(lists.make_list([d.vector() for _ in range(3)]), slice(stop)))


def _held(d: Draft, value: float) -> Any:
    """A tuple with an array in whose text the middle is missing."""
    import numpy as np
    from pytensor.graph.basic import Constant

    held = Constant(module("link.c.type").generic, (_middle(np, value),))
    return times_first()()(d.vector(), held)


def _strided(np: Any, step: int) -> Any:
    return np.arange(1.0, 13.0)[::step][:4]


def _middle(np: Any, value: float) -> Any:
    """What is printed of such an array does not show its middle."""
    array = np.arange(2000.0)
    array[1000] = value
    return array


def _reversed(np: Any, backwards: bool) -> Any:
    base = np.arange(1.0, 6.0)
    return base[::-1] if backwards else base


def _viewed(np: Any, start: int) -> Any:
    return np.arange(1.0, 9.0)[start : start + 4]


def _same_bytes_layout(np: Any, order: str) -> Any:
    return np.arange(1.0, 7.0).reshape((2, 3), order=order)


def _transposed(np: Any, transposed: bool) -> Any:
    base = np.array([[1.0, 2.0], [3.0, 4.0]])
    return base.T if transposed else base


PAIRS: Mapping[str, Pair] = {
    "differ.constant.value": differ(_scaled(lambda np, v: np.array([v, 1.0])), 2.0, 3.0),
    "differ.constant.scalar": differ(_scaled(lambda np, v: np.float64(v)), 2.5, 3.5),
    "differ.constant.integer": differ(_kept(lambda np, v: np.array([v, 1])), 2, 3),
    "differ.constant.last_bit": differ(_last_bit, 1, 2),
    "differ.constant.scalar_last_bit": differ(_scalar_last_bit, 1, 2),
    "differ.constant.sign_of_zero": differ(_zero, 0.0, -0.0),
    "differ.constant.scalar_sign_of_zero": differ(_scalar_zero, 0.0, -0.0),
    "differ.constant.nan": differ(_scaled(lambda np, v: np.array([v, 1.0])), 2.0, float("nan")),
    "differ.constant.infinite": differ(
        _scaled(lambda np, v: np.array([v, 1.0])), float("inf"), float("-inf")
    ),
    "differ.constant.order": differ(_scaled(lambda np, v: np.array(v)), [5.0, 7.0], [7.0, 5.0]),
    "differ.constant.middle": differ(_scaled(_middle), 1000.0, 9000.0),
    "differ.constant.dtype": differ(
        _kept(lambda np, dtype: np.array([1, 2, 3], dtype=dtype)), "float64", "float32"
    ),
    "differ.constant.dtype_sign": differ(
        _kept(lambda np, dtype: np.array([200, 100], dtype="uint8").view(dtype)), "uint8", "int8"
    ),
    "differ.constant.dtype_bytes": differ(
        _kept(lambda np, dtype: np.array([1.5, 2.5]).view(dtype)), "float64", "int64"
    ),
    "differ.constant.dtype_bool": differ(
        _kept(lambda np, dtype: np.array([1, 0, 1], dtype="int8").view(dtype)), "int8", "bool"
    ),
    "differ.constant.complex": differ(
        _kept(lambda np, sign: np.array([1.0 + sign * 2.0j, 3.0])), 1.0, -1.0
    ),
    "differ.constant.layout": differ(_scaled(_same_bytes_layout), "C", "F"),
    "differ.constant.transposed": differ(_scaled(_transposed), False, True),
    "differ.constant.stride": differ(_scaled(_strided), 1, 2),
    "differ.constant.stride_negative": differ(_scaled(_reversed), False, True),
    "differ.constant.view": differ(_scaled(_viewed), 0, 3),
    "differ.constant.size": differ(_scaled(lambda np, n: np.ones(n)), 3, 4),
    "differ.constant.size_empty": differ(_scaled(lambda np, s: np.ones(s)), (2, 0), (0, 2)),
    "differ.constant.shape": differ(
        _scaled(lambda np, shape: np.arange(6.0).reshape(shape)), (2, 3), (3, 2)
    ),
    "differ.constant.ndim": differ(_scaled(lambda np, shape: np.full(shape, 2.5)), (), (1,)),
    "differ.constant.ndim_row": differ(
        _scaled(lambda np, shape: np.arange(3.0).reshape(shape)), (1, 3), (3, 1)
    ),
    "differ.constant.swapped": differ(_two, (0.5, 0.25), (0.25, 0.5)),
    "differ.constant.output": differ(_alone, 2.0, 3.0),
    "differ.constant.index": differ(_index, [0, 1], [1, 0]),
    "differ.constant.slice": differ(_slice, 2, 3),
    "differ.constant.number_bytes": differ(
        _number(lambda np, dtype: np.float64(1.5).view(dtype)), "float64", "int64"
    ),
    "differ.constant.number_bool": differ(_number(lambda np, v: np.bool_(v)), True, False),
    "differ.constant.list_slice": differ(_part_of_list, 1, 2, linkers=OF_NUMBA),
    "differ.constant.tuple": differ(_held, 1000.0, 9000.0, linkers=OF_NUMBA),
    "differ.constant.exponent": differ(_exponent, 2.25, 2.75),
}
