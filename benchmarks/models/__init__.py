"""The models: each module of this package has a `MODEL`, the model of the module's name.

The package `parts` has what they are made of. The tool and the processes that start a measurement
import all of these modules. At the top they import only the standard library; NumPy, SciPy and
PyTensor are imported inside functions.
"""

from __future__ import annotations

import math
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

TOLERANCE = 1e-8
"""The largest relative error of logp and gradient against the reference that is not wrong."""
FIRST = "{}:first"
"""The name of the first graph of a pair; the second has the name of the pair."""


class NotInThisRelease(Exception):
    """The release has no Op that the graph is made of."""


class ModelError(ImportError):
    """A module of this package defines no model; the message names its file, and what is wrong."""


@dataclass(frozen=True)
class Errors:
    """The relative errors of an evaluation against the reference."""

    logp_error: float | None
    """Of the logp, or of every value of a graph without one; None: not finite, or another shape."""
    gradient_error: float | None
    """The largest of the entries; None: not finite, or there is no gradient."""
    wrong: bool

    def __post_init__(self) -> None:
        """Of a value that is wildly wrong, the error itself may be infinite."""
        for name in ("logp_error", "gradient_error"):
            error = getattr(self, name)
            if error is not None and not math.isfinite(error):
                object.__setattr__(self, name, None)
                object.__setattr__(self, "wrong", True)

    def within(self, tolerance: float) -> bool:
        """Return whether logp and gradient are both known, and no error is above a tolerance.

        A graph without a gradient is never within: its error may be something else than relative.
        """
        errors = (self.logp_error, self.gradient_error)
        return all(error is not None and error <= tolerance for error in errors)


@dataclass(frozen=True)
class Graph:
    """A symbolic graph that is made and not yet compiled."""

    point: Vector
    """Where it is evaluated, in the order that the compiled function takes."""
    compile: Callable[[Any], Callable[[Vector], Any]]
    """Compiles it in a mode, inside the measured span; returns the function of the flat vector."""
    check: Callable[[Any], Errors]
    """Compares what the compiled function returned with the reference."""
    tells: tuple[str, ...] = ()
    """Further exact metrics that are counted of it, where its scenario counts them."""
    check_again: Callable[[Any], Errors] | None = None
    """Compares what its further use returned with the reference; None: it has no further use. The
    compiled function is then a `benchmarks.models.parts.topics.topic.Used`."""


class Graphs(Protocol):
    """The graphs of a model by name."""

    def graph(self, member: str = "") -> Graph:
        """Return a new graph of one member; without a name of the base, or else of the first."""
        ...

    def explain(self, value: Any) -> str | None:
        """Return a sentence that says which member a wrong value belongs to."""
        ...


@dataclass(frozen=True)
class Size:
    """The place of a member in a family whose members differ in nothing but a size."""

    family: str
    noun: str
    """What the size counts, in the plural."""
    number: int
    limit: float
    """The CPU seconds after which its build is ended; then larger sizes are not built."""
    equal_layers: bool = False
    """Whether the family repeats equal layers, whose inner function should be compiled once."""


@dataclass(frozen=True)
class Model:
    """The record of a model. Its name is that of its module."""

    meaning: str
    reference: str
    """What its values are compared with."""
    build: Callable[[Path | None], Graphs]
    """Makes its graphs in the environment under test; the argument is a data file, or None."""
    families: tuple[str, ...]
    """The families of scenarios in which it is measured."""
    members: tuple[str, ...] = ()
    """Its graphs, in the order in which siblings, variants and upgrades build them."""
    equal: tuple[str, ...] = ()
    """Its pairs whose two graphs are equal: the second must find everything in the cache."""
    sizes: Mapping[str, Size] = field(default_factory=dict)
    """Where its members differ in size: the size of each."""
    quick: tuple[str, ...] = ()
    """Its quick set: the members that every comparison takes, as a model of its own."""
    quick_of: str = ""
    """The model whose quick set it is; empty: it is a model of its own."""
    untried: Mapping[str, str] = field(default_factory=dict)
    """Where each graph has one Op: patterns of the Ops that none has on purpose, with reasons."""
    without: tuple[str, ...] = ()
    """Backends that cannot compile it."""
    only: tuple[str, ...] = ()
    """The only backends with which it is measured; empty: all."""
    because: str = ""
    """Why it is not measured with the other backends."""
    packages: tuple[str, ...] = ()
    """Packages besides PyTensor and numba; the model is unavailable without them."""
    canary: tuple[str, ...] = ()
    """Its cells in the preset `canary`: patterns for "scenario launch", e.g. "siblings *"."""
    of_file: Callable[[Model, Path], Model] | None = None
    """Returns this model with the graphs that a file describes; None: there are no such files."""
    size: float = 1.0
    """The duration of a sample, divided by that of the same sample of `radon`."""
    order: int = 100
    """Its position among the models in tables; models of one position are sorted by name."""

    def __post_init__(self) -> None:
        """Raise ValueError if a backend is left out without a reason, or a name is no member."""
        if unknown := {*self.equal, *self.quick} - {*self.members}:
            raise ValueError(f"the model {self.meaning!r} has no members {sorted(unknown)}")
        if (self.without or self.only) and not self.because:
            raise ValueError(f"the model {self.meaning!r} leaves out backends without a reason")

    def lacks(self, backend: str) -> bool:
        """Return whether the model is not measured with a backend."""
        return backend in self.without or bool(self.only and backend not in self.only)

    def described_by(self, graphs: Path | None) -> Model:
        """Return the model with the graphs of a file, or this one if there is no file.

        Raises ValueError if there are no files of graphs of this model, or if the file holds none,
        and OSError.
        """
        if graphs is None:
            return self
        if self.of_file is None:
            raise ValueError(f"no file describes graphs of the model {self.meaning!r}")
        return self.of_file(self, graphs)

    def why_untried(self, op: str) -> str:
        """Return why no graph has an Op on purpose; empty if there is no reason.

        ``op``: a class of Ops with its module, as in `tensor.math.Sum`.
        """
        names = (op, op.rpartition(".")[2])
        return next(
            (why for pattern, why in self.untried.items()
             if any(fnmatchcase(name, pattern) for name in names)), ""
        )  # fmt: skip

    def quickly(self, name: str) -> Model:
        """Return the model of the quick set; ``name`` is that of this model.

        It is a model of its own, so that its cells are never compared with those of all members.
        """
        return replace(
            self,
            meaning=f"the part of `{name}` that every comparison takes",
            members=self.quick,
            equal=tuple(one for one in self.equal if one in self.quick),
            quick=(),
            quick_of=name,
            size=self.size * len(self.quick) / len(self.members),
        )


def discovered() -> Mapping[str, Model]:
    """Return the models of this package by name, in their order. Raises ModelError."""
    names = [one.name for one in pkgutil.iter_modules(__path__) if not one.ispkg]
    found = {name: _model(name) for name in names}
    found |= {f"{name}_quick": one.quickly(name) for name, one in found.items() if one.quick}
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))


def file_of(name: str) -> str:
    """The file of a model, as errors name it."""
    return f"benchmarks/models/{name}.py"


def _model(name: str) -> Model:
    try:
        module = import_module(f"{__name__}.{name}")
    except Exception as error:
        raise ModelError(
            f"{file_of(name)} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    model = getattr(module, "MODEL", None)
    if not isinstance(model, Model):
        raise ModelError(
            f"{file_of(name)} defines no MODEL; define one, or move what only other models use to "
            "benchmarks/models/parts"
        )
    return model
