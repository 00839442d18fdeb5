"""Many series at once: which of them have neither a step nor a drift, as most have not. Pure.

What the detector asks of one series takes little beside what it takes to ask. Series of one length
are asked together here, and those for which every answer is plainly no are done: their levels are
the ones that `segments.levels_of` would find. It is asked for all others, so nothing is decided
here, and what is not plain need not be decided the same way to the last bit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from observatory.analyze.history.drift import FEWEST, has_trend, trends_of
from observatory.analyze.history.fresh import NEW
from observatory.analyze.history.robust import medians
from observatory.analyze.history.segments import Levels, levels_of
from observatory.analyze.history.steady import steady
from observatory.analyze.history.steps import (
    PARAMETERS,
    Values,
    penalty,
    ranked,
    segmented_ranks,
)

_MOST = 500_000
"""Values that are looked at together."""
_PLAINLY = 1 - 1e-9


def levels_of_many(series: Sequence[Values]) -> list[Levels]:
    """What `levels_of` finds in each series of values."""
    found: list[Levels | None] = [None] * len(series)
    lengths: dict[int, list[int]] = defaultdict(list)
    for number, values in enumerate(series):
        lengths[len(values)].append(number)
    for length, numbers in lengths.items():
        each = max(1, _MOST // max(1, length))
        for first in range(0, len(numbers), each):
            some = numbers[first : first + each]
            # `np.stack` looks at each of the series twice.
            values = np.concatenate([series[one] for one in some]).reshape(len(some), length)
            for row in np.flatnonzero(_quiet(values)).tolist():
                found[some[row]] = None, []
    return [levels_of(series[n]) if one is None else one for n, one in enumerate(found)]


def medians_without(ordered: Values, few: int) -> tuple[Values, Values]:
    """Between which values the median of each sorted row is, whichever few values are left out."""
    left = ordered.shape[1] - few
    return ordered[:, (left - 1) // 2], ordered[:, left // 2 + few]


def _plainly_near(new: Values, low: Values, high: Values) -> npt.NDArray[np.bool_]:
    """Where the newest values have not moved, whatever level between the two they came from."""
    with np.errstate(all="ignore"):
        apart = np.maximum(np.abs(np.log(new / low)), np.abs(np.log(new / high)))
        found: npt.NDArray[np.bool_] = apart < math.log1p(NEW.smallest) * _PLAINLY
    return found


def _quiet(values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which rows have no step, no drift and no fresh step."""
    n = values.shape[1]
    if n < 2 * PARAMETERS.fewest:
        return np.zeros(len(values), np.bool_)
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    tied = np.flatnonzero((np.diff(ordered, axis=1) <= 0).any(axis=1))
    for row in tied.tolist():
        order[row] = ranked(values[row])
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, n + 1)[None], axis=1)
    found = np.ones(len(values), np.bool_)
    if n >= FEWEST:
        found &= ~trends_of(ranks)
        found[tied] = [not has_trend(values[row]) for row in tied.tolist()]
    for newest in NEW.newest:
        place = n - newest
        if place >= PARAMETERS.fewest:
            found &= _plainly_near(medians(values[:, place:]), *medians_without(ordered, newest))
    weight = penalty(n)
    asked = np.flatnonzero(found)
    for row in asked[~steady(ranks[asked], weight)].tolist():
        found[row] = not segmented_ranks(ranks[row], weight)
    return found
