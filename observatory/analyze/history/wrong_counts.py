"""Counts of the newest subject that are not the right ones, whether an alert says so or not. Pure.

An alert is a change: a cache that has missed since its first subject raises none.
"""

from __future__ import annotations

from collections.abc import Sequence

from observatory.analyze.comparison.rules import best_of
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import Subject
from observatory.analyze.series_keys import SeriesKey
from observatory.benchmarks.catalogue import BACKENDS
from observatory.store.records.alerts import WrongCount

_OF_CACHES = ("cache_misses", "uncacheable")
CHECKED = ("wrong_results", "crashed", *_OF_CACHES)
"""The counts whose right value is stated first of the newest subject."""


def is_checked(metric: str, backend: str) -> bool:
    """Whether a count that is not the right one is a problem of the newest subject.

    What the cache of an optional backend does is a fact about its package: it is told on the pages
    of caches, and a change of it by an alert.
    """
    optional = backend in BACKENDS and BACKENDS[backend].optional
    return not (optional and metric in _OF_CACHES)


def wrong_counts(tracks: Sequence[SegmentedSeries]) -> list[WrongCount] | None:
    """The cells and metrics of the newest subject where one value is right, and it is another.

    The newest subject is the last one with such a count on any machine. None if there is no series:
    then nothing is known.
    """
    if not tracks:
        return None
    last = [
        (_order(series.subject(len(series) - 1)), series.key[2:], float(series.values[-1]) > best)
        for series in (track.series for track in tracks)
        if (best := _right_value(series.place)) is not None
    ]
    newest = max((order for order, _, _ in last), default=None)
    wrong = {key for order, key, is_wrong in last if is_wrong and order == newest}
    return [WrongCount(benchmark=benchmark, metric=metric) for benchmark, metric in sorted(wrong)]


def _right_value(place: SeriesKey) -> int | None:
    if not place.model or place.metric not in CHECKED:
        return None
    if not is_checked(place.metric, place.backend):
        return None
    return best_of(place.metric, place.scenario, place.backend)


def _order(subject: Subject) -> tuple[float, bool, str]:
    """By date; of one date a release as it is comes last, without an extra requirement."""
    return subject.date.timestamp(), " " not in subject.label.strip(), subject.label
