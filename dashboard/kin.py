"""What belongs beside one series: others like it, and the exact events of its cell."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from observatory.analyze.history.segments import SegmentedSeries
from observatory.dashboard.site_input import SiteInput, family_of
from observatory.text import units

MOST = 11
"""Series of one kind beside another, at most: a chart shows no more."""
_Groups = dict[tuple[object, ...], list[int]]


class Kin:
    """The kin of every series, by three questions."""

    def __init__(self, observed: SiteInput) -> None:
        self._ids = observed.ids
        self._keys = [dict(_keys(observed, track)) for track in observed.tracks]
        self._groups: dict[str, _Groups] = defaultdict(lambda: defaultdict(list))
        for number, keys in enumerate(self._keys):
            for kind, key in keys.items():
                self._groups[kind][key].append(number)
        self._observed = observed

    def events(self, number: int) -> list[dict[str, object]]:
        """Where judged exact counts of the cell changed: a value's index, and what happened."""
        track = self._observed.tracks[number]
        if track.judgement == "exact" or not track.series.place.model:
            return []
        found: list[dict[str, object]] = []
        for other in self._groups["metrics"][self._keys[number]["metrics"]]:
            count = self._observed.tracks[other]
            rule = self._observed.verdicts_on(count).rule
            if count.judgement == "exact" and rule.judged:
                found += _events(track, count)
        return sorted(found, key=lambda one: str(one["words"]))[:MOST]

    def of(self, number: int) -> dict[str, list[str]]:
        """By kind of kin, the ids of at most MOST series, those nearest in the order of series."""
        found = {}
        for kind, key in self._keys[number].items():
            there = self._groups[kind][key]
            if near := nearest(there, number):
                found[kind] = [self._ids[other] for other in near]
        return found


def nearest(there: Sequence[int], number: int) -> Sequence[int]:
    """The MOST numbers that are nearest to one of them; of two that are equally far, the smaller.

    ``there``: in ascending order, as what is returned.
    """
    place = bisect_left(there, number)  # no other than these can be among the nearest
    near = [*there[max(0, place - MOST) : place], *there[place + 1 : place + 1 + MOST]]
    first, last = 0, len(near)
    while last - first > MOST:
        if number - near[first] > near[last - 1] - number:
            first += 1
        else:
            last -= 1
    return near[first:last]


def _keys(observed: SiteInput, track: SegmentedSeries) -> Iterator[tuple[str, tuple[object, ...]]]:
    """What is the same of series that are kin."""
    series, place = track.series, track.series.place
    line = observed.line_of(track)
    yield "environments", (series.benchmark, place.metric, place.unit)
    yield "parameters", (line, *family_of(series), series.source)
    yield "metrics", (line, series.benchmark)


def _events(track: SegmentedSeries, count: SegmentedSeries) -> Iterator[dict[str, object]]:
    """The changes of a count as events of another series of its line."""
    values, place = count.series.values, count.series.place
    for index in count.bounds[1:-1]:
        before, after = values[index - 1 : index + 1].tolist()
        at = int(np.searchsorted(track.series.at, count.series.at[index]))
        if 0 < at < len(track.series.values):
            words = f"{place.metric} {units.change(before, after, place.unit)}"
            yield {"at": at, "worse": after > before, "words": words}
