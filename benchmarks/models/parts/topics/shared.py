"""Shared variables: a new value compiles nothing, and what does not fit is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.case import OTHER, POSITIVE, VECTOR, Case, Cases
from .topic import Used, raised, used

_FIRST, _SECOND, _THIRD = VECTOR, OTHER, POSITIVE
"""The first argument of the function, the first value of the variable, and its next value."""


def _values() -> tuple[Any, Any, Any]:
    import numpy as np

    return _FIRST.make(np), _SECOND.make(np), _THIRD.make(np)


def _one_function(
    build: Callable[[Any, Any, Any], Any], further: Callable[[Any, Any], Any]
) -> Callable[[Any], Used]:
    """Return what makes a function of ``x`` and of a shared vector, whose value is set later.

    ``build`` takes pytensor.tensor, ``x`` and the shared variable. ``further`` takes the function
    of no arguments and the shared variable.
    """

    def make(mode: Any) -> Used:
        import pytensor
        import pytensor.tensor as pt

        given, value, _ = _values()
        x, shared = pt.vector("x", dtype="float64"), pytensor.shared(value, "s")
        function = pytensor.function([x], build(pt, x, shared), mode=mode)
        return Used(lambda: function(given), lambda: further(lambda: function(given), shared))

    return make


def _new_value(call: Callable[[], Any], shared: Any) -> Any:
    shared.set_value(_values()[2])
    return call()


def _shorter(call: Callable[[], Any], shared: Any) -> Any:
    shared.set_value(_values()[2][:3])
    return call()


def _single(call: Callable[[], Any], shared: Any) -> Any:
    """A value of one dtype in a variable of another is converted where nothing is lost."""
    shared.set_value(_values()[2].astype("float32"))
    return call()


def _complex(call: Callable[[], Any], shared: Any) -> Any:
    return raised(lambda: shared.set_value(_values()[2] + 1.0j), TypeError)


def _matrix(call: Callable[[], Any], shared: Any) -> Any:
    return raised(lambda: shared.set_value(_values()[2][None]), TypeError)


def _too_short(call: Callable[[], Any], shared: Any) -> Any:
    """Three numbers beside five: no backend may return anything."""
    shared.set_value(_values()[2][:3])
    return raised(call, ValueError, RuntimeError, TypeError)


def _updates(mode: Any) -> Used:
    """Each call adds its argument to the shared variable."""
    import pytensor
    import pytensor.tensor as pt

    given, value, _ = _values()
    x, shared = pt.vector("x", dtype="float64"), pytensor.shared(value, "s")
    function = pytensor.function([x], shared * 2.0, updates={shared: shared + x}, mode=mode)

    def further() -> Any:
        function(given)
        return shared.get_value()

    return Used(lambda: function(given), further)


def _generator(mode: Any) -> Used:
    """Each call draws, and leaves the generator where NumPy's would be."""
    import numpy as np
    import pytensor
    import pytensor.tensor as pt

    shared = pytensor.shared(np.random.default_rng(3), "rng")
    following, drawn = pt.random.normal(size=(4,), rng=shared).owner.outputs
    function = pytensor.function([], drawn, updates={shared: following}, mode=mode)
    return Used(function, function)


def _two_functions(mode: Any) -> Used:
    """The second function reads what the first one has written."""
    import pytensor
    import pytensor.tensor as pt

    given, value, _ = _values()
    x, shared = pt.vector("x", dtype="float64"), pytensor.shared(value, "s")
    function = pytensor.function([x], shared + 0.5, updates={shared: shared - x}, mode=mode)

    def further() -> Any:
        return pytensor.function([x], shared * x, mode=mode)(given)

    return Used(lambda: function(given), further)


def _two_backends(mode: Any) -> Used:
    """The second function is another backend's; each reads what the other one has written."""
    import numpy as np
    import pytensor
    import pytensor.tensor as pt
    from pytensor.compile.mode import Mode

    given, value, _ = _values()
    x, shared = pt.vector("x", dtype="float64"), pytensor.shared(value, "s")
    function = pytensor.function([x], shared + 0.25, updates={shared: shared - x}, mode=mode)

    def further() -> Any:
        python = Mode(linker="py", optimizer="fast_compile")
        other = pytensor.function([x], shared * x, updates={shared: shared * 3.0}, mode=python)
        return np.asarray(other(given)), np.asarray(function(given))

    return Used(lambda: function(given), further)


def _drawn(number: int) -> Callable[[Any], Any]:
    def right(np: Any) -> Any:
        generator = np.random.default_rng(3)
        return [generator.normal(size=4) for _ in range(number)][-1]

    return right


def _product(np: Any) -> Any:
    given, value, _ = _values()
    return value * given


def _new_product(np: Any) -> Any:
    given, _, later = _values()
    return later * given


def _sum_case(further: Callable[..., Any], right: Callable[[Any], Any]) -> Case:
    return used(
        _one_function(lambda pt, x, s: pt.exp(-s).sum() + x, further),
        lambda np: np.exp(-_values()[1]).sum() + _values()[0],
        right,
    )


def _product_case(further: Callable[..., Any], right: Callable[[Any], Any]) -> Case:
    return used(_one_function(lambda pt, x, s: s * x, further), _product, right)


CASES: Cases = {
    "new_value": _product_case(_new_value, _new_product),
    "new_length": _sum_case(_shorter, lambda np: np.exp(-_values()[2][:3]).sum() + _values()[0]),
    "new_dtype": _product_case(
        _single, lambda np: _values()[2].astype("float32").astype("float64") * _values()[0]
    ),
    "complex_refused": _product_case(_complex, lambda np: np.array(1.0)),
    "matrix_refused": _product_case(_matrix, lambda np: np.array(1.0)),
    "too_short_refused": _product_case(_too_short, lambda np: np.array(1.0)),
    "updates": used(
        _updates,
        lambda np: _values()[1] * 2.0,
        lambda np: _values()[1] + 2.0 * _values()[0],
    ),
    "generator": used(_generator, _drawn(1), _drawn(2)),
    "two_functions": used(
        _two_functions,
        lambda np: _values()[1] + 0.5,
        lambda np: (_values()[1] - _values()[0]) * _values()[0],
    ),
    "two_backends": used(
        _two_backends,
        lambda np: _values()[1] + 0.25,
        lambda np: (
            (_values()[1] - _values()[0]) * _values()[0],
            (_values()[1] - _values()[0]) * 3.0 + 0.25,
        ),
    ),
}
