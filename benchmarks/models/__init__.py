"""The models: each gives graphs to build and says what their values must be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.models import (
    closures,
    linalg,
    lookalikes,
    radon,
    radon_data,
    radon_pymc,
    randoms,
    reference,
)
from benchmarks.models.parameters import Variant, point
from benchmarks.models.radon_data import RadonData
from benchmarks.models.reference import Errors, Reference, is_wrong
from benchmarks.vocabulary import BASE_VARIANT, VARIANTS

Vector = NDArray[np.float64]


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


class Model(Protocol):
    """Graphs by name, each with what it must evaluate to."""

    def graph(self, member: str = BASE_VARIANT) -> Graph:
        """A fresh graph of one member."""
        ...

    def explain(self, value: Any) -> str | None:
        """Whose numbers a wrong value is."""
        ...


@dataclass
class RadonGraph:
    """One of the eight variants in plain PyTensor."""

    inputs: Any
    outputs: list[Any]
    point: Vector
    reference: Reference

    def compile(self, mode: Any) -> Callable[[Vector], Any]:
        """Compile with `pytensor.function`."""
        import pytensor

        function: Callable[[Vector], Any] = pytensor.function(
            [self.inputs], self.outputs, mode=mode, trust_input=True
        )
        return function

    def check(self, value: Any) -> Errors:
        """Errors of (logp, gradient)."""
        logp, gradient = value
        return self.reference.errors(logp, gradient)


@dataclass
class RadonPymcGraph:
    """The base variant as a PyMC model."""

    model: Any
    n_counties: int
    order: NDArray[np.int64]
    point: Vector
    reference: Reference

    def compile(self, mode: Any) -> Callable[[Vector], Any]:
        """Compile through PyMC."""
        function = radon_pymc.compile_logp_dlogp(self.model, self.n_counties, mode)
        inner: Callable[[Vector], Any] = function._pytensor_function
        inner.trust_input = True  # type: ignore[attr-defined]
        return inner

    def check(self, value: Any) -> Errors:
        """Errors of (logp, gradient), the gradient brought into our order."""
        logp, gradient = value
        ours = np.full(self.order.size, np.nan)
        ours[self.order] = np.asarray(gradient, dtype=float)
        return self.reference.errors(logp, ours)


@dataclass(frozen=True)
class Radon:
    """Model `radon`: builds any of the eight variants."""

    data: RadonData

    def graph(self, member: str = BASE_VARIANT) -> Graph:
        """A fresh graph of one variant, and what it must evaluate to."""
        inputs, outputs = radon.build(self.data, Variant.named(member))
        where = point(self.data.n_counties)
        right = reference.evaluate(self.data, Variant.named(member), where)
        return RadonGraph(inputs, outputs, where, right)

    def explain(self, value: Any) -> str | None:
        """Whose numbers a wrong value is, if it is another variant's."""
        where = point(self.data.n_counties)
        for name in VARIANTS:
            right = reference.evaluate(self.data, Variant.named(name), where)
            if not is_wrong(right.logp_error(value[0]), 0.0):
                return f"logp {float(value[0]):.6g} is that of {name}"
        return f"logp is {float(value[0]):.6g}"


@dataclass(frozen=True)
class RadonPymc:
    """Model `radon_pymc`: the base variant only."""

    data: RadonData

    def graph(self, member: str = BASE_VARIANT) -> Graph:
        """A fresh model, and what it must evaluate to."""
        model = radon_pymc.build(self.data)
        where = point(self.data.n_counties)
        order = radon_pymc.order(model, self.data.n_counties)
        right = reference.evaluate(self.data, Variant.named(member), where)
        return RadonPymcGraph(model, self.data.n_counties, order, where[order], right)

    def explain(self, value: Any) -> str | None:
        """What a wrong value was."""
        return f"logp is {float(value[0]):.6g}"


_SMALL: dict[str, Model] = {
    "lookalikes": lookalikes.MODEL,
    "closures": closures.MODEL,
    "randoms": randoms.MODEL,
    "linalg": linalg.MODEL,
}


def load(name: str, data_file: Path | None) -> Model:
    """The model of that name, over the generated data or a CSV file. Raises RadonDataError."""
    if name in _SMALL:
        return _SMALL[name]
    data = radon_data.generated() if data_file is None else radon_data.from_csv(data_file)
    return Radon(data) if name == "radon" else RadonPymc(data)
