"""The data, the variants and the parameters of the radon model, for graph and reference alike.

The generated data resemble those of Minnesota (Gelman & Hill 2006, chapter 12): 919 houses sorted
by county, at least one in each of 85 counties, about one in six measured on the first floor.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from itertools import accumulate, product
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .. import Vector

HOUSES = 919
COUNTIES = 85


class RadonDataError(ValueError):
    """Raised for a data file that lacks something that the model needs; the message says what."""


@dataclass(frozen=True)
class RadonData:
    """The measurements: three arrays with an entry for each house."""

    county: NDArray[np.int64]
    """Index of the house's county, from 0."""
    floor: NDArray[np.float64]
    """0 for a basement, 1 for the first floor."""
    log_radon: NDArray[np.float64]
    """Natural logarithm of the activity in pCi/L."""

    @property
    def n_counties(self) -> int:
        """The number of counties."""
        return int(self.county.max()) + 1


def load(data_file: Path | None) -> RadonData:
    """Return the data of a CSV file; the generated data for None. Raises RadonDataError."""
    return generated() if data_file is None else from_csv(data_file)


def generated(houses: int = HOUSES, counties: int = COUNTIES) -> RadonData:
    """Return the same arrays with every NumPy: `RandomState` streams are frozen (NEP 19)."""
    import numpy as np

    rng = np.random.RandomState(919)
    extra = rng.multinomial(houses - counties, rng.dirichlet(np.full(counties, 0.6)))
    county = np.repeat(np.arange(counties), extra + 1)
    floor = (rng.uniform(size=houses) < 1 / 6).astype(np.float64)
    county_effect = rng.normal(0.0, 0.3, size=counties)
    noise = rng.normal(0.0, 0.75, size=houses)
    log_radon = 1.46 + county_effect[county] - 0.69 * floor + noise
    return RadonData(county, floor, log_radon)


def from_csv(path: Path) -> RadonData:
    """Read the columns `county`, `floor` and `log_radon` (or `activity`, in pCi/L) of a CSV file.

    Counties are numbered in alphabetical order. Raises RadonDataError.
    """
    import numpy as np

    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:  # Excel begins with a mark
            rows = list(csv.DictReader(stream, skipinitialspace=True))
    except (OSError, UnicodeDecodeError) as error:
        raise RadonDataError(f"cannot read the radon data: {error}") from error
    if not rows:
        raise RadonDataError(f"{path} holds no rows; the model needs one row per house")
    column = "log_radon" if "log_radon" in rows[0] else "activity"
    missing = {"county", "floor", column} - set(rows[0])
    if missing:
        raise RadonDataError(
            f"{path} has no column {', '.join(sorted(missing))}; "
            "the model reads county, floor and log_radon (or activity)"
        )
    if any(row["county"] is None for row in rows):
        raise RadonDataError(f"{path} has a row that ends before its county")
    names = sorted({row["county"].strip() for row in rows})
    try:
        values = np.array([float(row[column]) for row in rows])
        floor = np.array([float(row["floor"]) for row in rows])
    except (TypeError, ValueError) as error:
        raise RadonDataError(f"{path} holds a value that is not a number: {error}") from error
    # 0.1 pCi/L is what the published analyses add, as some houses measured 0.
    with np.errstate(all="ignore"):
        log_radon = values if column == "log_radon" else np.log(values + 0.1)
    if not (np.isfinite(log_radon).all() and np.isfinite(floor).all()):
        raise RadonDataError(f"{path} holds a value of {column} or floor that no house can have")
    index = {name: number for number, name in enumerate(names)}
    county = np.array([index[row["county"].strip()] for row in rows])
    return RadonData(county, floor, log_radon)


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
