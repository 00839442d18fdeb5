"""The parameters of the radon model: one flat vector, the same for the graph and the reference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BASE_VARIANT = "noncentered-normal-halfnormal"
VARIANTS: tuple[str, ...] = tuple(
    f"{centering}-{intercept}-{sigma}"
    for centering, intercept, sigma in product(
        ("centered", "noncentered"), ("normal", "lognormal"), ("halfnormal", "lognormal")
    )
)
"""The eight radon models in the order in which they are built; the fifth is the base."""


@dataclass(frozen=True)
class Parameter:
    """A named slice of the flat vector, on the unconstrained scale."""

    name: str
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        """How many values it has."""
        return math.prod(self.shape)

    @property
    def slice(self) -> slice:
        """Where it is in the flat vector."""
        return slice(self.start, self.start + self.size)


def layout(n_counties: int) -> tuple[Parameter, ...]:
    """The parameters in their order; zero-sum effects have one free value less than counties."""
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = (
        ("intercept", ()),
        ("county_sd", ()),
        ("county_raw", (n_counties - 1,)),
        ("floor_effect", ()),
        ("county_floor_sd", ()),
        ("county_floor_raw", (n_counties - 1,)),
        ("sigma", ()),
    )
    parameters = []
    start = 0
    for name, shape in shapes:
        parameter = Parameter(name, shape, start)
        parameters.append(parameter)
        start += parameter.size
    return tuple(parameters)


def point(n_counties: int) -> NDArray[np.float64]:
    """The fixed point at which every sample evaluates, shape (2 * n_counties + 3,)."""
    import numpy as np

    size = sum(parameter.size for parameter in layout(n_counties))
    return np.random.RandomState(85).normal(0.0, 0.5, size=size)


@dataclass(frozen=True)
class Variant:
    """Which of the eight models it is."""

    centered: bool
    lognormal_intercept: bool
    lognormal_sigma: bool

    @classmethod
    def named(cls, name: str) -> Variant:
        """The variant of a name in VARIANTS; the base for an empty name. Raises ValueError."""
        name = name or BASE_VARIANT
        if name not in VARIANTS:
            raise ValueError(f"there is no variant {name!r}; choose from {', '.join(VARIANTS)}")
        centering, intercept, sigma = name.split("-")
        return cls(centering == "centered", intercept == "lognormal", sigma == "lognormal")
