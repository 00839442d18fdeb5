"""A history replayed week by week through the code that makes alerts, with its memory. Pure.

Each week sees the values whose subjects are no newer, and the alerts of the week before. A series
without a new value is not cut into levels again. How long a step takes to be told is measured
apart: series that are long enough get one, and are replayed from it on, each alone, value by value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np

from observatory.analyze.delays import Delays
from observatory.analyze.history.alerts import AlertContext
from observatory.analyze.history.detection import Detected, Histories, detect_changes
from observatory.analyze.history.level_changes import alerted_steps
from observatory.analyze.history.recorded import SAME
from observatory.analyze.history.segments import Alerted, SegmentedSeries, segmented, unfit
from observatory.analyze.history.series import Line, Series
from observatory.store.records.alerts import Alert, Alerts
from observatory.store.records.triage import Triage

WEEK = timedelta(days=7)
NEVER = timedelta(days=36500)
INJECTED = (1.02, 1.05, 1.10, 1.20)
BEFORE, AFTER = 60, 30
"""Values before an injected step, at least, and values after it within which it must be told."""


@dataclass(frozen=True)
class Week:
    """What one week said: the numbers of new alerts, and of those that need a person at its end."""

    end: datetime
    new: int
    same_cause: int
    """Of the new ones, those that begin within a few subjects of another alert on their series'
    machine."""
    open: int
    smaller: int
    """Changes that are listed and no alerts."""


@dataclass(frozen=True)
class Told(Delays):
    """How soon steps of one size were told."""

    factor: float
    series: int
    delays: tuple[int, ...] = field(repr=False)
    """Values from the step until it was told, itself included, where that was within AFTER."""
    false: int
    """Series that told something in the values before the step, where none was injected."""


def replay(series: Sequence[Series], weeks: int) -> Iterator[Week]:
    """The last ``weeks`` weeks of a history."""
    dates = sorted({one.subject(len(one.values) - 1).date for one in series})
    last = dates[-1]
    ends = [last - WEEK * back for back in range(weeks, -1, -1)]
    known: dict[int, tuple[int, tuple[Alerted, ...], SegmentedSeries]] = {}
    previous: Alerts | None = None
    for end in ends:
        cut, memory = list(until(series, end)), alerted_steps(previous)
        tracks = [_segmented(number, one, memory, known) for number, one in cut]
        found = _detected(tracks, end, previous)
        before = {one.id for one in previous.alerts} if previous else set()
        new = [
            one for one in found.alerts
            if one.alert.id not in before and one.alert.state != "resolved"
        ]  # fmt: skip
        alerts = [one.alert for one in found.alerts]
        if previous is not None:
            shared = sum(_shared(one.alert, alerts) for one in new)
            live = sum(one.state != "resolved" for one in alerts)
            yield Week(end, len(new), shared, live, len(found.smaller))
        previous = _record(found)


def until(series: Sequence[Series], end: datetime) -> Iterator[tuple[int, Series]]:
    """The series as they were at a time, with their numbers; those without a value are left out."""
    lines: dict[int, Line] = {}
    for number, one in enumerate(series):
        line = lines.get(id(one.line))
        if line is None:
            seen = tuple(subject for subject in one.line.subjects if subject.date <= end)
            line = lines[id(one.line)] = replace(one.line, subjects=seen)
        n = int(np.searchsorted(one.at, len(line.subjects)))
        if n:
            yield number, Series.of(line, one.place, one.at[:n], one.values[:n], one.source)


def _segmented(
    number: int,
    one: Series,
    memory: Sequence[Alerted],
    known: dict[int, tuple[int, tuple[Alerted, ...], SegmentedSeries]],
) -> SegmentedSeries:
    own = tuple(each for each in memory if each[0] == one.key)
    n = len(one.values)
    if number in known and known[number][:2] == (n, own):
        return replace(known[number][2], series=one)
    made = next(iter(segmented([one], own)))
    known[number] = n, own, made
    return made


def told(series: Sequence[Series], factor: float, seed: int = 0) -> Told:
    """Insert a step of one size into every noisy series that is long enough, and await its alert.

    The place is random; the real changes of the series stay in it.
    """
    delays: list[int] = []
    tried = false = 0
    for number, one in enumerate(series):
        n = len(one.values)
        if one.place.kind != "noisy" or n < BEFORE + AFTER or unfit(one) is not None:
            continue
        tried += 1
        rng = np.random.default_rng((seed, number))
        place = int(rng.integers(BEFORE, n - AFTER + 1))
        shuffled = one.values[:place].copy()
        rng.shuffle(shuffled)
        false += bool(_alerts_on(_prefix(one, shuffled, place), None).alerts)
        stepped = one.values.copy()
        stepped[place:] *= factor
        previous = _record(_alerts_on(_prefix(one, stepped, place), None))
        for seen in range(1, AFTER + 1):
            found = _alerts_on(_prefix(one, stepped, place + seen), previous)
            previous = _record(found)
            if any(_tells(each.alert, one, place) for each in found.alerts):
                delays.append(seen)
                break
    return Told(factor, tried, tuple(delays), false)


def _prefix(one: Series, values: np.ndarray, n: int) -> Series:
    subjects = one.line.subjects[: int(one.at[n - 1]) + 1]
    line = replace(one.line, subjects=subjects)
    return Series.of(line, one.place, one.at[:n], values[:n], one.source)


def _alerts_on(one: Series, previous: Alerts | None) -> Detected:
    end = one.subject(len(one.values) - 1).date
    return _detected(list(segmented([one], alerted_steps(previous))), end, previous)


def _tells(alert: Alert, one: Series, place: int) -> bool:
    if alert.state == "resolved":
        return False
    places = range(max(0, place - SAME), min(len(one.values), place + SAME + 1))
    near = {one.subject(n).commit for n in places}
    return any(change.first_bad.commit in near for change in alert.series)


def _detected(
    tracks: Sequence[SegmentedSeries], now: datetime, previous: Alerts | None
) -> Detected:
    context = AlertContext(now, NEVER, Triage(), previous)
    return detect_changes(Histories(tracks=tracks, histories=(), runs=()), context)


def _record(found: Detected) -> Alerts:
    """What `observatory alerts` would remember, without sentences."""
    return Alerts(observatory="", newest=found.newest, last_good=None, judged=found.judged,
                  alerts=[one.alert for one in found.alerts])  # fmt: skip


def _shared(alert: Alert, every: Iterable[Alert]) -> bool:
    """Whether another alert begins on the same machine within a week: probably the same cause."""
    return any(
        other.id != alert.id and other.state != "resolved"
        and abs(other.first_bad.date - alert.first_bad.date) <= WEEK
        for other in every
    )  # fmt: skip
