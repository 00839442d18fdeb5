"""The parameters of the radon model: one flat vector, for the graph and the reference alike."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.models import Vector

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
        """The number of values."""
        return math.prod(self.shape)

    @property
    def slice(self) -> slice:
        """The position in the flat vector."""
        return slice(self.start, self.start + self.size)


def layout(n_counties: int) -> tuple[Parameter, ...]:
    """Return the parameters in order; a zero-sum effect has one value less than counties."""
    effects = (n_counties - 1,)
    shapes: dict[str, tuple[int, ...]] = {
        "intercept": (), "county_sd": (), "county_raw": effects,
        "floor_effect": (), "county_floor_sd": (), "county_floor_raw": effects, "sigma": (),
    }  # fmt: skip
    starts = accumulate((math.prod(shape) for shape in shapes.values()), initial=0)
    return tuple(Parameter(*each) for each in zip(shapes, shapes.values(), starts, strict=False))


def point(n_counties: int) -> Vector:
    """Return the fixed point at which every sample evaluates, shape (2 * n_counties + 3,)."""
    import numpy as np

    return np.random.RandomState(85).normal(0.0, 0.5, size=2 * n_counties + 3)


@dataclass(frozen=True)
class Variant:
    """One of the eight models."""

    centered: bool
    lognormal_intercept: bool
    lognormal_sigma: bool

    @classmethod
    def named(cls, name: str) -> Variant:
        """Return the variant of a name; the base for an empty one. Raises ValueError."""
        name = name or BASE_VARIANT
        if name not in VARIANTS:
            raise ValueError(f"there is no variant {name!r}; choose from {', '.join(VARIANTS)}")
        centering, intercept, sigma = name.split("-")
        return cls(centering == "centered", intercept == "lognormal", sigma == "lognormal")
