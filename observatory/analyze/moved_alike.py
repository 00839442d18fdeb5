"""Whether times moved alike while the work did not: then the machine changed, not the code. Pure.

The history asks it of neighbours, and a comparison of two sides that were not measured in turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from observatory.benchmarks.catalogue import METRICS

TIMES = tuple(name for name, one in METRICS.items() if one.judged and one.unit == "seconds")
"""The times that are judged: parts of them would only count them twice."""
_FEWEST = 8
"""Times of fewer cells may move alike by chance."""
_FEWEST_METRICS = 2
"""Import, build and call hardly get slower together because of one change of the code."""
_FEWEST_COUNTS = 3
_MOVED = math.log(1.1)
"""A time that moved less than by a tenth is within what runs on one machine differ by."""
_STILL = math.log(1.02)
"""Work that moved less is the same work: builds in two environments differ by up to 1 %."""
_MOST = 0.75


@dataclass(frozen=True)
class MovedAlike:
    """How many times moved the same way, and that the work of their cells did not.

    ``ratio`` is the median of the new times to the old ones, ``work`` that of the ``counted``
    counts.
    """

    moved: int
    measured: int
    ratio: float
    work: float
    counted: int


def moved_alike(
    times: Sequence[tuple[str, float, float]], work: Sequence[tuple[float, float]]
) -> MovedAlike | None:
    """What moved, if most times moved alike and most of the work did not; None otherwise.

    ``times``: metric, old and new value of each cell. ``work``: old and new counts of these cells.
    Values that are not above 0 are left out.
    """
    ratios = np.array([math.log(new / old) for _, old, new in times if min(old, new) > 0])
    counts = np.array([math.log(new / old) for old, new in work if min(old, new) > 0])
    enough = len(ratios) >= _FEWEST and len(counts) >= _FEWEST_COUNTS
    if not enough or len({metric for metric, _, _ in times}) < _FEWEST_METRICS:
        return None
    moved = max(int((ratios > _MOVED).sum()), int((ratios < -_MOVED).sum()))
    still = int((np.abs(counts) < _STILL).sum())
    if moved < _MOST * len(ratios) or still < _MOST * len(counts):
        return None
    ratio, same = (math.exp(float(np.median(logs))) for logs in (ratios, counts))
    return MovedAlike(moved, len(ratios), ratio, same, len(counts))
