"""The models. Each is one file of this package: its record and its graphs.

A module of this package that has a `MODEL` is a model under the module's name. All of these modules
are imported by the tool and by the processes that start a measurement, so that at their top they
import the standard library alone; NumPy, SciPy and PyTensor are imported inside functions.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

TOLERANCE = 1e-8
"""Largest relative error of logp and gradient against the reference that counts as right."""


@dataclass(frozen=True)
class Errors:
    """How far an evaluation is off the reference, relatively."""

    logp_error: float | None
    """Of the logp, or of every value of a graph without one; None: not finite, or another shape."""
    gradient_error: float | None
    """The largest of the entries; None: not finite, or there is no gradient."""
    wrong: bool


class Graph(Protocol):
    """A symbolic graph, made and not yet compiled."""

    @property
    def point(self) -> Vector:
        """Where it is evaluated, in the order that the compiled function takes."""
        ...

    def compile(self, mode: Any) -> Callable[[Vector], Any]:
        """Compile: the part inside the clock. Returns the function of the flat vector."""
        ...

    def check(self, value: Any) -> Errors:
        """How far what the compiled function returned is off the reference."""
        ...


class Graphs(Protocol):
    """Graphs by name, each with what it must evaluate to."""

    def graph(self, member: str = "") -> Graph:
        """A fresh graph of one member; of the base, or else the first, if none is named."""
        ...

    def explain(self, value: Any) -> str | None:
        """Whose numbers a wrong value is."""
        ...


@dataclass(frozen=True)
class Model:
    """What is said of a model. Its name is that of its module."""

    meaning: str
    reference: str
    """What its values are compared with."""
    build: Callable[[Path | None], Graphs]
    """Make its graphs, in the environment under test; ``data``: a file of the user's, or None."""
    families: tuple[str, ...]
    """The families of scenarios in which it is measured."""
    members: tuple[str, ...] = ()
    """Its graphs, in the order in which siblings, variants and upgrades build them."""
    without: tuple[str, ...] = ()
    """Backends that cannot compile it."""
    only: tuple[str, ...] = ()
    """The backends that it is for; empty: all."""
    because: str = ""
    """Why it is not measured with the other backends."""
    packages: tuple[str, ...] = ()
    """What its users import besides PyTensor and numba; without it the model is unavailable."""
    canary: tuple[str, ...] = ()
    """What the preset `canary` takes of it: patterns for "scenario launch", e.g. "siblings *"."""
    size: float = 1.0
    """How long a sample takes, against the same sample of `radon`."""
    order: int = 100
    """Its place among the models in tables; those of one place go by name."""

    def __post_init__(self) -> None:
        """Raise ValueError where a backend is left out and nobody says why."""
        if (self.without or self.only) and not self.because:
            raise ValueError(f"the model {self.meaning!r} leaves out backends and says not why")

    def lacks(self, backend: str) -> bool:
        """Whether the model is not measured with a backend."""
        return backend in self.without or bool(self.only and backend not in self.only)


def discovered() -> Mapping[str, Model]:
    """The models of this package by name, in their order."""
    modules = [import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__)]
    found = {m.__name__.rpartition(".")[2]: m.MODEL for m in modules if hasattr(m, "MODEL")}
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))
