"""The radon measurements: 919 houses in 85 counties, generated or read from a file.

The generated data resemble those of Minnesota (Gelman & Hill 2006, chapter 12): houses sorted by
county, at least one house in every county, about one in six measured on the first floor.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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


def generated() -> RadonData:
    """Return the same arrays with every NumPy: `RandomState` streams are frozen (NEP 19)."""
    import numpy as np

    rng = np.random.RandomState(919)
    extra = rng.multinomial(HOUSES - COUNTIES, rng.dirichlet(np.full(COUNTIES, 0.6)))
    county = np.repeat(np.arange(COUNTIES), extra + 1)
    floor = (rng.uniform(size=HOUSES) < 1 / 6).astype(np.float64)
    county_effect = rng.normal(0.0, 0.3, size=COUNTIES)
    noise = rng.normal(0.0, 0.75, size=HOUSES)
    log_radon = 1.46 + county_effect[county] - 0.69 * floor + noise
    return RadonData(county, floor, log_radon)


def from_csv(path: Path) -> RadonData:
    """Read the columns `county`, `floor` and `log_radon` (or `activity`, in pCi/L) of a CSV file.

    Counties are numbered in alphabetical order. Raises RadonDataError.
    """
    import numpy as np

    try:
        with path.open(newline="", encoding="utf-8") as stream:
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
    names = sorted({row["county"].strip() for row in rows})
    try:
        values = np.array([float(row[column]) for row in rows])
        floor = np.array([float(row["floor"]) for row in rows])
    except (TypeError, ValueError) as error:
        raise RadonDataError(f"{path} holds a value that is not a number: {error}") from error
    # 0.1 pCi/L is what the published analyses add, as some houses measured 0.
    log_radon = values if column == "log_radon" else np.log(values + 0.1)
    index = {name: number for number, name in enumerate(names)}
    county = np.array([index[row["county"].strip()] for row in rows])
    return RadonData(county, floor, log_radon)
