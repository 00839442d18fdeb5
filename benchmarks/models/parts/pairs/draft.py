"""How one graph of a pair is written down: its inputs with their values, and Ops of any release."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any

from ... import NotInThisRelease

_HOMES = (
    "tensor", "tensor.math", "tensor.basic", "tensor.elemwise", "tensor.extra_ops", "tensor.shape",
    "tensor.reshape", "tensor.subtensor", "tensor.sort", "tensor.special", "tensor.blockwise",
    "tensor.pad", "tensor.signal.conv", "tensor.fourier", "tensor.random.basic",
    "tensor.linalg.decomposition.cholesky", "tensor.linalg.decomposition.eigen",
    "tensor.linalg.decomposition.lu", "tensor.linalg.decomposition.qr",
    "tensor.linalg.decomposition.schur", "tensor.linalg.decomposition.svd",
    "tensor.linalg.inverse", "tensor.linalg.products", "tensor.linalg.constructors",
    "tensor.linalg.solvers.core", "tensor.linalg.solvers.general",
    "tensor.linalg.solvers.linear_control", "tensor.linalg.solvers.lstsq",
    "tensor.linalg.solvers.psd", "tensor.linalg.solvers.triangular",
    "tensor.linalg.solvers.tridiagonal",
    "tensor.slinalg", "tensor.nlinalg", "tensor._linalg.solve.tridiagonal",
    "compile.builders", "ifelse", "conditional.op", "raise_op",
)  # fmt: skip
"""The modules that define Ops, of all releases; each moved at least once."""


class Namespace:
    """A module of PyTensor in which a missing name raises NotInThisRelease."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        try:
            found = getattr(self._module, name)
        except AttributeError:
            raise NotInThisRelease(f"{self._module.__name__} has no {name}") from None
        return Namespace(found) if isinstance(found, ModuleType) else found


def module(name: str) -> Namespace:
    """Return a module below `pytensor`. Raises NotInThisRelease."""
    try:
        return Namespace(import_module(f"pytensor.{name}"))
    except ModuleNotFoundError:
        raise NotInThisRelease(f"there is no module pytensor.{name}") from None


def _op() -> Any:
    from pytensor.graph.op import Op

    return Op


def op_class(name: str, home: str = "") -> Any:
    """Return a class of Ops, wherever this release defines it. Raises NotInThisRelease.

    ``home``: the module, for a name that several modules use.
    """
    for one in (home,) if home else _HOMES:
        try:
            found = getattr(module(one), name)
        except NotInThisRelease:
            continue
        if inspect.isclass(found) and issubclass(found, _op()):
            return found
    raise NotInThisRelease(f"no module of PyTensor defines the Op {name}")


class Draft:
    """A graph that is being made: its symbolic inputs and their values, in one order."""

    def __init__(self) -> None:
        self.pt = module("tensor")
        self.inputs: list[Any] = []
        self.values: list[Any] = []

    def input(
        self,
        value: Any,
        dtype: str = "float64",
        *,
        shape: tuple[int | None, ...] | None = None,
        name: str | None = None,
    ) -> Any:
        """Add an input that has a value; return its variable.

        ``shape``: its static shape; by default no length is known.
        """
        import numpy as np

        value = np.asarray(value, dtype=dtype)
        lengths = (None,) * value.ndim if shape is None else shape
        variable = self.pt.tensor(name, dtype=dtype, shape=lengths)
        return self.given(variable, value)

    def given(self, variable: Any, value: Any) -> Any:
        """Add a variable as an input that has a value; return it."""
        self.inputs.append(variable)
        self.values.append(value)
        return variable

    def vector(self, dtype: str = "float64") -> Any:
        """Add a vector of five different numbers."""
        return self.input([0.75, -1.5, 2.25, 3.0, -0.5], dtype)

    def counts(self) -> Any:
        """Add a vector of five integers, one of which occurs twice."""
        return self.input([3, 1, 2, 1, 0], "int64")

    def matrix(self, dtype: str = "float64") -> Any:
        """Add a matrix of shape (3, 4) without symmetry; as integers too it has no two equal."""
        return self.input([[1, -2, 30, 4], [5, 6, -7, 80], [9, -100, 11, 12]], dtype)

    def square(self) -> Any:
        """Add a matrix of shape (3, 3) that is well conditioned and not symmetric."""
        return self.input([[4.0, 1.0, -0.5], [0.25, 3.0, 0.75], [-1.0, 0.5, 5.0]])

    def positive(self) -> Any:
        """Add a symmetric positive definite matrix of shape (3, 3)."""
        return self.input([[4.0, 1.0, -0.5], [1.0, 3.0, 0.75], [-0.5, 0.75, 5.0]])

    def cube(self) -> Any:
        """Add an array of shape (2, 3, 4) without symmetry."""
        import numpy as np

        return self.input(np.arange(24.0).reshape(2, 3, 4) ** 2)

    def constant(self, value: Any, dtype: str = "float64") -> Any:
        """Return a constant."""
        import numpy as np

        return self.pt.constant(np.asarray(value, dtype=dtype))

    def op(self, name: str, *args: Any, home: str = "", **parameters: Any) -> Any:
        """Return an Op with these parameters. Raises NotInThisRelease."""
        found = op_class(name, home)
        known = {*inspect.signature(found).parameters, *(getattr(found, "__props__", None) or ())}
        for parameter in parameters:
            if parameter not in known:
                raise NotInThisRelease(f"{name} has no parameter {parameter}")
        return found(*args, **parameters)
