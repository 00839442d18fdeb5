"""Subjects at which the machine is likely to have changed, and not the code. Pure.

Where work was counted, `moved_alike` says so of two neighbours. Where none was counted, more than
half of all series have a step at one point, which no change of the code does. Either names a likely
cause and hides nothing: an alert stays an alert.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from observatory.analyze.comparison.comparing import OtherSpeed, Who
from observatory.analyze.history.alerts import FAILED, STALE
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import Line, Series, Subject
from observatory.analyze.moved_alike import TIMES, MovedAlike, moved_alike
from observatory.benchmarks.catalogue import OF_WORK
from observatory.store.records.alerts import Alert, Alerts

_NEAR = 2
_MOST_STEPS = 0.5
_FEWEST_STEPS = 8


@dataclass(frozen=True)
class MachineChange:
    """A likely change of a machine at a subject.

    ``moved`` of ``measured`` series moved with it. ``alike`` and ``before``, the subject to compare
    with, are there where work was counted.
    """

    line: Line
    at: Subject
    moved: int
    measured: int
    before: Subject | None = None
    alike: MovedAlike | None = None


def machine_changes(series: Iterable[Series]) -> list[MachineChange]:
    """The subjects at which times moved alike and work did not; in the order of lines."""
    by_line: dict[int, list[Series]] = defaultdict(list)
    for one in series:
        if one.place.model:
            by_line[id(one.line)].append(one)
    return [change for own in by_line.values() for change in _on_line(own)]


def other_speeds(
    changes: Iterable[MachineChange], among: Collection[Who]
) -> dict[tuple[Who, Who], OtherSpeed]:
    """By pair of these subjects, in both orders: the newest of the changes between the two."""
    found: dict[tuple[Who, Who], OtherSpeed] = {}
    for one in changes:
        if one.alike is None:  # only steps show it
            continue
        line, commits = one.line, [each.commit for each in one.line.subjects]
        at = commits.index(one.at.commit)
        whos = [(line.machine, line.env_name, commit) for commit in commits]
        before, after = ([who for who in part if who in among] for part in (whos[:at], whos[at:]))
        for base, head in product(before, after):
            found[base, head] = found[head, base] = OtherSpeed(one.at.label, one.alike)
    return found


def changes_of_alerts(
    alerts: Alerts, tracks: Sequence[SegmentedSeries], changes: Iterable[MachineChange]
) -> Mapping[str, MachineChange]:
    """By alert of times: the change of its machine that it may follow from.

    ``changes``: those of `machine_changes`.
    """
    known = {(*one.line.key, one.at.commit): one for one in changes}
    steps = _steps(tracks)
    found = {}
    for alert in alerts.alerts:
        places = sorted({(o.machine, o.env_name) for o in alert.series if o.kind == "noisy"})
        if alert.kind in (STALE, FAILED) or not places:
            continue
        alike = (known.get((*place, alert.first_bad.commit)) for place in places)
        change = next(filter(None, alike), None) or _with_steps(alert, places, steps)
        if change is not None:
            found[alert.id] = change
    return found


def _on_line(series: Sequence[Series]) -> Iterator[MachineChange]:
    """The changes among the series of one line."""
    line = series[0].line
    times: dict[tuple[int, int], list[tuple[Series, float, float]]] = defaultdict(list)
    for one in series:
        if one.place.metric in TIMES:
            for i in range(1, len(one.at)):
                pair = int(one.at[i - 1]), int(one.at[i])
                times[pair].append((one, float(one.values[i - 1]), float(one.values[i])))
    for pair, moves in sorted(times.items(), key=lambda each: each[0][::-1]):
        cells = {one.place.cell for one, _, _ in moves}
        work = [
            ends for one in series if one.place.metric in OF_WORK and one.place.cell in cells
            if (ends := _values_at(one, pair))
        ]  # fmt: skip
        alike = moved_alike([(one.place.metric, old, new) for one, old, new in moves], work)
        if alike is not None:
            before, at = (line.subjects[place] for place in pair)
            yield MachineChange(line, at, alike.moved, alike.measured, before, alike)


def _values_at(one: Series, pair: tuple[int, int]) -> tuple[float, float] | None:
    """The values of a series at two places of its line; None if it lacks one of them."""
    values = dict(zip(one.at.tolist(), one.values.tolist(), strict=True))
    return (values[pair[0]], values[pair[1]]) if values.keys() >= set(pair) else None


def _steps(
    tracks: Iterable[SegmentedSeries],
) -> Mapping[int, tuple[Line, list[frozenset[int]]]]:
    """By ``id(line)``: where the judged series of the line have steps."""
    found: dict[int, tuple[Line, list[frozenset[int]]]] = {}
    for track in tracks:
        if track.judgement == "judged":
            line = track.series.line
            places = frozenset(int(track.series.at[step.index]) for step in track.steps)
            found.setdefault(id(line), (line, []))[1].append(places)
    return found


def _with_steps(
    alert: Alert, places: Sequence[tuple[str, str]],
    steps: Mapping[int, tuple[Line, list[frozenset[int]]]],
) -> MachineChange | None:  # fmt: skip
    """The change with which most series of a line have a step where the alert begins."""
    first = alert.first_bad.commit
    for line, own in steps.values():
        commits = [one.commit for one in line.subjects]
        if line.key not in places or first not in commits or len(own) < _FEWEST_STEPS:
            continue
        at = commits.index(first)
        near = set(range(at - _NEAR, at + _NEAR + 1))
        moved = len(own) - sum(map(near.isdisjoint, own))
        if moved > _MOST_STEPS * len(own):
            return MachineChange(line, line.subjects[at], moved, len(own))
    return None
