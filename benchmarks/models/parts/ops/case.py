"""How a graph of one Op is described: what builds it, its inputs, and what it must return.

Model files import this module at their top, so that it imports NumPy and PyTensor in functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ... import TOLERANCE, NotInThisRelease
from ..small import POINT, Function, Member

if TYPE_CHECKING:
    from ... import Vector

ROUGH = 1e-5
"""The limit of single precision, and of references that are differences."""


@dataclass(frozen=True)
class Case(Member):
    """A graph of one Op, with a right value of its own inputs; it ignores the point."""

    right: Callable[[], Any] = lambda: None
    """Returns a right value without PyTensor: an array, or a tuple of those of each output."""


Cases = Mapping[str, Case]


@dataclass(frozen=True)
class Input:
    """An input of a function. Its type knows the number of dimensions, and no lengths."""

    make: Callable[[Any], Any]
    """Takes numpy and returns the array."""
    shape: tuple[int | None, ...] | None = None
    """The lengths that the type knows, if it knows one; 1 lets the dimension be broadcast."""


def _rising(np: Any, *shape: int) -> Any:
    """Values that are irregular, of both signs, and of no symmetry."""
    size = int(np.prod(shape))
    return np.reshape(2.0 * np.sin(np.arange(1.0, size + 1) ** 1.5) + 0.1, shape)


def _spd(np: Any, shift: float = 0.0) -> Any:
    half = _rising(np, 4, 4) + shift
    return half @ half.T + 3.0 * np.eye(4)


VECTOR = Input(lambda np: np.array(POINT))
OTHER = Input(lambda np: np.array([1.5, 0.25, -2.0, 3.0, 0.875]))
POSITIVE = Input(lambda np: np.array([0.4, 1.7, 2.9, 0.15, 3.3]))
POSITIVE_OTHER = Input(lambda np: np.array([1.2, 0.6, 2.1, 4.5, 0.35]))
NEGATIVE = Input(lambda np: np.array([-0.3, -1.9, -2.6, -0.7, -4.1]))
UNIT = Input(lambda np: np.array([0.15, 0.9, 0.45, 0.62, 0.3]))
SCALAR = Input(lambda np: np.array(1.375))
SINGLE = Input(lambda np: np.array([0.7, -1.3, 2.1, 0.4, -0.9], dtype="float32"))
COMPLEX = Input(lambda np: np.array([0.7 - 1.0j, 2.0 + 0.5j, -1.5 + 2.5j]))
INTEGERS = Input(lambda np: np.array([7, -3, 4, 12, -8]))
INTEGERS_OTHER = Input(lambda np: np.array([2, 5, -3, 4, 3]))
BYTES = Input(lambda np: np.array([100, -7, 27, 64, 3], dtype="int8"))
COUNT = Input(lambda np: np.array(3))
TWO = Input(lambda np: np.array(2))
INDICES = Input(lambda np: np.array([3, 0, 0, 2]))
INDICES_OTHER = Input(lambda np: np.array([1, 3, 2, 0]))
BOOLEANS = Input(lambda np: np.array([True, False, True, True, False]))
NOT_FINITE = Input(lambda np: np.array([1.0, np.nan, np.inf, -np.inf, 0.0, np.nan]))
MATRIX = Input(lambda np: _rising(np, 4, 5))
SQUARE = Input(lambda np: _rising(np, 4, 4) + 3.0 * np.eye(4))
SQUARE_OTHER = Input(lambda np: _rising(np, 5, 4)[1:] - 2.0 * np.eye(4))
SYMMETRIC = Input(lambda np: _rising(np, 4, 4) + _rising(np, 4, 4).T + 3.0 * np.eye(4))
SPD = Input(_spd)
SPD_OTHER = Input(lambda np: _spd(np, 0.7))
LOWER = Input(lambda np: np.tril(_rising(np, 4, 4)) + 3.0 * np.eye(4))
UPPER = Input(lambda np: np.triu(_rising(np, 4, 4)) + 3.0 * np.eye(4))
TALL = Input(lambda np: _rising(np, 6, 3))
RIGHT = Input(lambda np: np.array([1.0, -2.0, 0.5, 3.25]))
RIGHTS = Input(lambda np: _rising(np, 4, 3))
SHORT = Input(lambda np: _rising(np, 3, 5) + 0.4)
TENSOR = Input(lambda np: _rising(np, 2, 3, 4))
TENSOR_OTHER = Input(lambda np: _rising(np, 2, 4, 5) - 0.2)
STACK = Input(lambda np: np.stack([_spd(np), _spd(np, 0.3), _spd(np, -0.8)]))
STACK_OF_VECTORS = Input(lambda np: _rising(np, 3, 4))
ROW = Input(lambda np: np.array([[0.5, -1.25, 2.0, 0.75, -3.0]]), shape=(1, None))
MASK = Input(lambda np: _rising(np, 4, 5) > 0.3)
SPARSE = Input(lambda np: np.where(_rising(np, 4, 5) > 0.4, _rising(np, 4, 5), 0.0))
SPARSE_OTHER = Input(lambda np: np.where(_rising(np, 4, 5) < 0.9, _rising(np, 4, 5) - 1.0, 0.0))
SPARSE_SQUARE = Input(lambda np: np.where(_rising(np, 4, 4) > -0.5, _rising(np, 4, 4), 0.0))


def case(
    build: Callable[..., Any],
    expected: Callable[..., Any],
    *inputs: Input,
    limit: float = TOLERANCE,
) -> Case:
    """Return the case of a graph that has one right value.

    ``build`` takes pytensor.tensor and the symbolic inputs, and returns the output, or a list of
    them. ``expected`` takes numpy and the arrays, and returns the right value, or a tuple.
    """

    @cache
    def right() -> Any:
        import numpy as np

        return expected(np, *_arrays(inputs))

    return Case(
        compiled(build, *inputs),
        lambda value: difference(value, right()),
        limit,
        right=right,
    )


def compiled(build: Callable[..., Any], *inputs: Input) -> Callable[[Any], Function]:
    """Return a function that compiles a graph in a mode, for `Member.compile`.

    It raises `NotInThisRelease` if the graph cannot be made, because a name or a parameter came
    later. What compiling raises is none of its business.
    """

    def compile_in(mode: Any) -> Function:
        import pytensor

        symbols, outputs = graph(build, *inputs)
        arrays = _arrays(inputs)
        function = pytensor.function(
            symbols, outputs, mode=mode, trust_input=True, on_unused_input="ignore"
        )

        def call(_: Vector) -> Any:
            value = function(*arrays)
            return tuple(value) if isinstance(value, list) else value

        return call

    return compile_in


def graph(build: Callable[..., Any], *inputs: Input) -> tuple[list[Any], Any]:
    """Return the symbolic inputs and the outputs of a graph. Raises `NotInThisRelease`."""
    import pytensor.tensor as pt

    try:
        symbols = [
            pt.tensor(f"x{number}", dtype=str(array.dtype), shape=one.shape or (None,) * array.ndim)
            for number, (one, array) in enumerate(zip(inputs, _arrays(inputs), strict=True))
        ]
        outputs = build(pt, *symbols)
    except (AttributeError, ImportError, TypeError) as error:
        raise NotInThisRelease(f"{type(error).__name__}: {error}") from error
    return symbols, list(outputs) if isinstance(outputs, tuple) else outputs


def _arrays(inputs: tuple[Input, ...]) -> list[Any]:
    import numpy as np

    return [one.make(np) for one in inputs]


def difference(value: Any, right: Any) -> float | None:
    """Return the largest relative error of an entry of any output.

    None: an output is not finite, of another shape or dtype, or their number is another.
    """
    values, rights = (each if isinstance(each, tuple) else (each,) for each in (value, right))
    if len(values) != len(rights):
        return None
    errors = [_difference(*pair) for pair in zip(values, rights, strict=True)]
    return (
        None if any(error is None for error in errors) else max(e for e in errors if e is not None)
    )


def _difference(value: Any, right: Any) -> float | None:
    import numpy as np

    from ..reference import relative_error

    value, right = np.asarray(value), np.asarray(right)
    if value.dtype != right.dtype or value.shape != right.shape:
        return None
    if np.iscomplexobj(right):
        value, right = (np.stack([each.real, each.imag]) for each in (value, right))
    return relative_error(value, right)


def scipys(name: str) -> Callable[..., Any]:
    """Return a function of numpy and arrays that calls a function of SciPy by its full name."""

    def call(_: Any, *arrays: Any) -> Any:
        from importlib import import_module

        module, _, function = name.rpartition(".")
        return getattr(import_module(f"scipy.{module}"), function)(*arrays)

    return call


def numpys(name: str) -> Callable[..., Any]:
    """Return a function of numpy and arrays that calls a function of NumPy."""
    return lambda np, *arrays: getattr(np, name)(*arrays)


def tensors(name: str) -> Callable[..., Any]:
    """Return a function of pytensor.tensor and symbols that calls a function of PyTensor."""
    return lambda pt, *symbols: getattr(pt, name)(*symbols)
