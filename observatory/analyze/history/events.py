"""Exact events as changes of level: where a cache began or ceased to hit, a time changes too. Pure.

The detector of steps needs some values on either side. Where the count of a cell changes, nothing
has to be searched: the place is known, and only whether the time of the same cell moved with it is
asked. It did if it moved in the direction of the count, by more than the smallest step, beyond all
values on one of the sides, and by FAR times the noise of the larger side.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from observatory.analyze.chance import NORMAL
from observatory.analyze.comparison.rules import JUDGED_NOISY, SMALLEST_STEP
from observatory.analyze.history.series import Series
from observatory.analyze.history.steps import Values
from observatory.benchmarks.catalogue import FOLLOWS_FROM_A_CACHE, OF_A_CACHE, WARM_SCENARIOS

NEAR = 10
"""Values on either side of an event that are compared, at most."""
FAR = 4.0
"""A time moved with a count if it did by so many times its noise."""
FOLLOWERS = frozenset(FOLLOWS_FROM_A_CACHE) & frozenset(JUDGED_NOISY)
"""Noisy metrics that follow from what a cache does in the same cell."""
Cells = Mapping[tuple[int, tuple[str, ...]], Sequence[Series]]
"""By line and cell, the counts of what its cache did."""


def counts_of(series: Iterable[Series]) -> Cells:
    """The exact counts among the series that the times of a cell follow."""
    found: dict[tuple[int, tuple[str, ...]], list[Series]] = defaultdict(list)
    for one in series:
        if one.place.model and one.place.metric in OF_A_CACHE:
            found[id(one.line), one.place[:4]].append(one)
    return found


def events_in(series: Series, counts: Cells) -> list[int]:
    """The indexes of the values at which a noisy series changed with a count of its cell."""
    place = series.place
    if place.metric not in FOLLOWERS or place.scenario not in WARM_SCENARIOS:
        return []
    directions: dict[int, set[bool]] = defaultdict(set)
    for count in counts.get((id(series.line), place[:4]), ()):
        for index, (before, after) in enumerate(pairwise(count.values.tolist()), start=1):
            last, first = np.searchsorted(series.at, count.at[index - 1 : index + 1]).tolist()
            # Of subjects between two values of the count nobody knows on which side they are.
            between = np.any(series.at[last:first] > count.at[index - 1])
            if before != after and not between and 0 < first < len(series.values):
                directions[first].add(after > before)
    places = {first: ways.pop() for first, ways in directions.items() if len(ways) == 1}
    bounds = [0, *sorted(places), len(series.values)]
    return [
        place for start, place, stop in zip(bounds, bounds[1:], bounds[2:], strict=False)
        if _moved(series.values[start:place], series.values[place:stop], places[place])
    ]  # fmt: skip


def without_events(values: Values, places: Sequence[int]) -> Values:
    """The values with each of the events taken out: the level after it is as the one before."""
    flat = values.copy()
    for place, stop in pairwise([*places, len(values)]):
        start = max((p for p in (0, *places) if p < place), default=0)
        before, after = (
            flat[max(start, place - NEAR) : place],
            values[place : min(stop, place + NEAR)],
        )
        flat[place:stop] = values[place:stop] * (np.median(before) / np.median(after))
    return flat


def _moved(old: Values, new: Values, up: bool) -> bool:
    """Whether positive values moved up, or down, for good where a count did."""
    if min(old.min(), new.min()) <= 0:
        return False
    before, after = np.log(old[-NEAR:]), np.log(new[:NEAR])
    low, high = (before, after) if up else (after, before)
    apart = float(np.median(high) - np.median(low))
    larger = max((before, after), key=len)
    noise = NORMAL * float(np.median(np.abs(larger - np.median(larger))))
    beyond = np.median(high) > low.max() and np.median(low) < high.min()
    return bool(beyond and apart >= max(FAR * noise, math.log1p(SMALLEST_STEP)))
