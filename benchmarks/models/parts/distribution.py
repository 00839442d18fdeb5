"""How far draws are from the distribution that they must follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def distance(value: Any, cdf: Callable[[Any], Any]) -> float | None:
    """Return the largest distance between the empirical and the true distribution function.

    This is the statistic of Kolmogorov and Smirnov, for discrete distributions too. None: not all
    draws are finite or possible, or there is none.
    """
    import numpy as np

    draws: NDArray[np.float64] = np.sort(np.ravel(np.asarray(value, dtype=float)))
    if not draws.size or not np.all(np.isfinite(draws)):
        return None
    with np.errstate(over="ignore"):  # far from where a double exponential is not 0 or 1
        true = np.asarray(cdf(draws), dtype=float)
        below = np.asarray(cdf(np.nextafter(draws, -np.inf)), dtype=float)
    # A discrete distribution has equal draws: count up to the last one, and below the first one.
    upper = np.searchsorted(draws, draws, side="right") / draws.size
    lower = np.searchsorted(draws, draws, side="left") / draws.size
    found = np.max(np.abs([upper - true, lower - below]))
    # Some functions of SciPy are NaN beyond the values that are possible.
    return float(found) if np.isfinite(found) else None
