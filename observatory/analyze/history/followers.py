"""What follows from a count or from work in the same cell: times, work and memory. Pure.

Work decides, and time describes. Steps that came with a count belong to its change, and where the
times of its cells were judged and have no step there, the change says that nobody waits longer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, replace

from observatory.analyze.history.level_changes import LevelChange
from observatory.analyze.history.segments import SegmentedSeries, Tracks
from observatory.analyze.history.steps import PARAMETERS
from observatory.analyze.statements import Occurrence, Statement
from observatory.benchmarks.catalogue import (
    CAUSES,
    COMPARED,
    METRICS,
    OF_WORK,
    Cell,
    headline_time,
)
from observatory.store.records.alerts import Change, series_on

Followers = Mapping[str, Collection[str]]
"""The metrics that follow from each metric, in the same cell."""
FOLLOW_COUNTS: Followers = {
    name: {
        follower
        for cause in CAUSES.values() if name in cause.shows_in and not cause.deliberate
        for follower in cause.explains if COMPARED[follower].kind != "exact"
    }
    for name, one in COMPARED.items() if one.kind == "exact"
}  # fmt: skip
"""Measured metrics that a comparison explains by what shows in a count, such as misses or sleep."""
_TIMES = tuple(
    name for name, one in METRICS.items() if one.kind == "noisy" and one.unit == "seconds"
)
FOLLOW_WORK: Followers = dict.fromkeys((*OF_WORK, "waiting_time"), _TIMES)
"""Times that follow from work and from waiting: each time of a cell."""


_WORDS = len(fields(Cell))
"""The words of a benchmark of ours, which name its cell."""


def with_followers(
    leading: Iterable[Occurrence],
    moved: Iterable[LevelChange],
    followers: Followers,
) -> tuple[list[Occurrence], list[LevelChange]]:
    """Changes with the level changes that follow from them, and the level changes that are left."""
    found, left = list(leading), []
    for move in moved:
        leaders = {name for name, own in followers.items() if move.change.metric in own}
        places = range(len(found)) if leaders else ()
        number = next((n for n in places if _follows(move, found[n], leaders)), None)
        if number is None:
            left.append(move)
        else:
            # A judged step says more than the two values that a count came with.
            known = [one for one in found[number].change.series if one.key != move.change.key]
            series = [*known, move.change]
            change = found[number].change.model_copy(update={"series": series})
            found[number] = replace(found[number], change=change)
    return found, left


def _follows(move: LevelChange, one: Occurrence, leaders: Collection[str]) -> bool:
    """Whether it moved with a count of its cell, and did not stay when that was over."""
    if move.drifting or move.change.worse != one.worse:
        return False
    if one.recovered is not None and move.recovered is None:
        return False
    near = move.within[0] <= one.change.first_bad.date <= move.within[1]
    place = move.change.key[:3]
    return near and any(s.metric in leaders and s.key[:3] == place for s in one.change.series)


def with_felt(
    found: Iterable[Occurrence], tracks: Tracks, followers: Followers
) -> Iterator[Occurrence]:
    """Add to each statement whether the times of its cells were judged and show no step there."""
    for one in found:
        unfelt = one.worse and _is_unfelt(one.change, tracks, followers)
        statement = Statement(one.statement.kind, (*one.statement.values, unfelt))
        yield replace(one, statement=statement)


def _is_unfelt(change: Change, tracks: Tracks, followers: Followers) -> bool:
    times = {
        series_on((one.machine, one.env_name), one.benchmark, headline)
        for one in change.series
        if len(words := one.benchmark.split()) == _WORDS
        and (headline := headline_time(words[1])) in followers.get(one.metric, ())
    }
    judged = [tracks.at(key, change.first_bad.commit) for key in times]
    return bool(times) and all(one is not None and _is_level(one, change) for one in judged)


def _is_level(track: SegmentedSeries, change: Change) -> bool:
    """Whether a step at the first bad subject would have been found, and none was."""
    if track.judgement != "judged" or track.drift is not None:
        return False
    count = len(track.series.values)
    dates = [track.series.subject(number).date for number in range(count)]
    place = bisect_left(dates, change.first_bad.date)
    return all(abs(bound - place) >= PARAMETERS.fewest for bound in track.bounds)
