"""What belongs beside one series: others like it, and the exact events of its cell."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from observatory.analyze.history.segments import SegmentedSeries
from observatory.dashboard.kept import hashed
from observatory.dashboard.site_input import SiteInput, family_of
from observatory.text import units

MOST = 11
"""Series of one kind beside another, at most: a chart shows no more."""


class Kin:
    """The kin of every series, by three questions."""

    def __init__(self, observed: SiteInput) -> None:
        self._observed = observed
        self._ids = observed.ids
        self._same = {
            kind: _Same(key(observed, track) for track in observed.tracks)
            for kind, key in _KINDS.items()
        }

    def events(self, number: int) -> list[dict[str, object]]:
        """Where judged exact counts of the cell changed: a value's index, and what happened."""
        track = self._observed.tracks[number]
        if track.judgement == "exact" or not track.series.place.model:
            return []
        found: list[dict[str, object]] = []
        for other in self._same["metrics"].of(number):
            count = self._observed.tracks[other]
            rule = self._observed.verdicts_on(count).rule
            if count.judgement == "exact" and rule.judged:
                found += _events(track, count)
        return sorted(found, key=lambda one: str(one["words"]))[:MOST]

    def groups(self, number: int) -> list[str]:
        """By kind of kin, a hash of which series they are: what `of` says follows from it."""
        return [same.hash_of(number, self._ids) for same in self._same.values()]

    def of(self, number: int) -> dict[str, list[str]]:
        """By kind of kin, the ids of at most MOST series, those nearest in the order of series."""
        found = {}
        for kind, same in self._same.items():
            if near := nearest(same.of(number), number):
                found[kind] = [self._ids[other] for other in near]
        return found


def nearest(there: Sequence[int], number: int) -> Sequence[int]:
    """The MOST numbers whose places in a group are nearest to that of one of them.

    Of two that are equally far, the smaller. ``there``: in ascending order, as what is returned.
    """
    place = bisect_left(there, number)
    first = max(0, min(place - (MOST + 1) // 2, len(there) - MOST - 1))
    return [one for one in there[first : first + MOST + 1] if one != number]


class _Same:
    """Which numbers have the same key. As arrays: of each series there is one of three kinds."""

    def __init__(self, keys: Iterable[Hashable]) -> None:
        known: dict[Hashable, int] = {}
        self._group = array("i", [known.setdefault(key, len(known)) for key in keys])
        group = np.frombuffer(self._group, np.intc)
        self._order = array("i", np.argsort(group, kind="stable").tolist())
        self._starts = array("i", np.cumsum([0, *np.bincount(group)]).tolist())
        self._hashes: dict[int, str] = {}

    def of(self, number: int) -> Sequence[int]:
        """The numbers with the key of this one, in ascending order."""
        group = self._group[number]
        return self._order[self._starts[group] : self._starts[group + 1]]

    def hash_of(self, number: int, ids: Sequence[str]) -> str:
        """A hash of the ids with the key of this number; empty where it is the only one."""
        group, there = self._group[number], self.of(number)
        if len(there) == 1:  # as most are: a hash of each would be much memory
            return ""
        if group not in self._hashes:
            self._hashes[group] = hashed(*(ids[other] for other in there))
        return self._hashes[group]


def _environments(_: SiteInput, track: SegmentedSeries) -> Hashable:
    return track.series.benchmark, track.series.place.metric, track.series.place.unit


def _parameters(observed: SiteInput, track: SegmentedSeries) -> Hashable:
    return observed.line_of(track), family_of(track.series), track.series.source


def _metrics(observed: SiteInput, track: SegmentedSeries) -> Hashable:
    return observed.line_of(track), track.series.benchmark


_KINDS: Mapping[str, Callable[[SiteInput, SegmentedSeries], Hashable]] = {
    "environments": _environments, "parameters": _parameters, "metrics": _metrics,
}  # fmt: skip
"""What is the same of series that are kin."""


def _events(track: SegmentedSeries, count: SegmentedSeries) -> Iterator[dict[str, object]]:
    """The changes of a count as events of another series of its line."""
    values, place = count.series.values, count.series.place
    for index in count.bounds[1:-1]:
        before, after = values[index - 1 : index + 1].tolist()
        at = int(np.searchsorted(track.series.at, count.series.at[index]))
        if 0 < at < len(track.series.values):
            words = f"{place.metric} {units.change(before, after, place.unit)}"
            yield {"at": at, "worse": after > before, "words": words}
