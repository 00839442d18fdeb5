"""How often and how soon steps are told, whatever told them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np


class Delays:
    """What follows from the delays of a detector; a dataclass that inherits this has the fields."""

    if TYPE_CHECKING:
        series: int
        delays: tuple[int, ...]

    @property
    def found(self) -> float:
        """The share of the series whose step was told in time."""
        return len(self.delays) / self.series if self.series else 0.0

    @property
    def median_delay(self) -> float | None:
        """In values, which are nights; None where nothing was told."""
        return float(np.median(self.delays)) if self.delays else None
