"""How the alerts stand this morning: which are news, which are open for long, which are over. Pure.

A page, and whoever else speaks of all alerts at once, says what follows from here: red is for what
is new or wrong, amber for what is old and open, green for everything else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from benchmarks.catalogue import FIRST_CAUSES
from observatory.analyze.history.alerts import FAILED, STALE
from observatory.analyze.history.segments import SegmentedSeries
from observatory.analyze.history.series import Line
from observatory.store.records.alerts import Alert, Alerts

Light = Literal["bad", "open", "good", "unknown"]
"""Red, amber, green; unknown where nothing could be judged."""
RETIRED_AFTER = timedelta(days=30)
"""A series is retired that its machine has not measured for so long, while it measured others."""
_NEAR = 2
_MOST_OF_A_MACHINE = 0.5
_FEWEST_TIMES = 8


@dataclass(frozen=True)
class Standing:
    """The alerts by what a person does about them, each in the order of the file."""

    light: Light
    new: tuple[Alert, ...]
    """First seen with the newest measurements, or with an acknowledgement that has ended."""
    waiting: tuple[Alert, ...]
    """Older ones, about which nobody has decided."""
    acknowledged: tuple[Alert, ...]
    late: tuple[Alert, ...]
    """Of machines and environments that send nothing."""
    failed: tuple[Alert, ...]
    retired: tuple[Alert, ...]
    """Whose series are no longer measured: nobody needs to decide about them."""
    wrong: bool
    """Whether something is wrong about which nobody has decided: values, or a cache that misses
    without an alert."""

    @property
    def shown(self) -> tuple[Alert, ...]:
        """Those that the first page lists, in the order in which they need a person."""
        return (*self.failed, *self.new, *self.waiting, *self.acknowledged)


def standing(
    alerts: Alerts, retired: Iterable[str] = (), wrong: Iterable[tuple[str, str]] = ()
) -> Standing:
    """Sort the alerts.

    ``retired``: ids of those whose series are no longer measured. ``wrong``: cells and
    metrics of the newest subject where values are wrong, a filled cache misses, or it crashes:
    what an alert speaks of is not said again.
    """
    over = set(retired)
    known = {
        (series.benchmark, series.metric) for one in alerts.in_state("acknowledged", "open")
        for series in one.series if series.holds
    }  # fmt: skip
    live = [one for one in alerts.alerts if one.state != "resolved" and one.id not in over]
    undecided = [one for one in live if one.state != "acknowledged"]
    needing = [one for one in undecided if one.kind not in (STALE, FAILED)]
    new = tuple(one for one in needing if one.state in ("new", "expired"))
    waiting = tuple(one for one in needing if one.state == "open")
    late = tuple(one for one in undecided if one.kind == STALE)
    failed = tuple(one for one in undecided if one.kind == FAILED)
    unknown = not known.issuperset(wrong) or any(one.kind in FIRST_CAUSES for one in waiting)
    bad = unknown or new or failed
    light: Light = "bad" if bad else "open" if waiting or late else "good"
    if light == "good" and not (alerts.judged or alerts.compared):
        light = "unknown"
    return Standing(
        light, new, waiting, tuple(one for one in live if one.state == "acknowledged"), late,
        failed, tuple(one for one in alerts.alerts if one.id in over and one.state != "resolved"),
        unknown,
    )  # fmt: skip


def retired_alerts(alerts: Alerts, tracks: Sequence[SegmentedSeries]) -> frozenset[str]:
    """The ids of the alerts of series that are measured no more, though their machine measures.

    An alert that a machine sends nothing is one of those if another environment of the machine
    replaced it. A machine that stopped altogether is late, not retired.
    """
    lines = list({id(track.series.line): track.series.line for track in tracks}.values())
    newest: dict[str, datetime] = {}
    last: dict[tuple[str, str], datetime] = {}
    for line in lines:
        end = line.subjects[-1].date
        newest[line.machine] = max(end, newest.get(line.machine, end))
        last[line.key] = max(end, last.get(line.key, end))
    gone = {line.name for line in lines if last[line.key] < newest[line.machine] - RETIRED_AFTER}
    machines = {line.key[0]: line.machine for line in lines}
    found = set()
    for one in alerts.in_state("new", "expired", "open", "acknowledged"):
        if one.kind == STALE:
            if one.about in gone:
                found.add(one.id)
            continue
        # The times that came with a count only describe it: they are not followed.
        followed = [series for series in one.series if series.now is not None]
        if followed and all(
            series.machine in machines
            and series.newest.date < newest[machines[series.machine]] - RETIRED_AFTER
            for series in followed
        ):
            found.add(one.id)
    return frozenset(found)


def machine_changes(
    alerts: Alerts, tracks: Sequence[SegmentedSeries]
) -> Mapping[str, tuple[int, int]]:
    """By alert of times: how many times of its line moved at that point, and of how many.

    Only alerts with which most of them moved: no change of the code does that.
    """
    steps: dict[int, list[frozenset[int]]] = defaultdict(list)
    lines: dict[int, Line] = {}
    for track in tracks:
        if track.judgement == "judged":
            places = frozenset(int(track.series.at[step.index]) for step in track.steps)
            steps[id(track.series.line)].append(places)
            lines[id(track.series.line)] = track.series.line
    found = {}
    for one in alerts.alerts:
        if one.kind in (STALE, FAILED) or not any(s.kind == "noisy" for s in one.series):
            continue
        for number, line in lines.items():
            own = steps[number]
            place = _place(line, one)
            if place is None or len(own) < _FEWEST_TIMES:
                continue
            near = set(range(place - _NEAR, place + _NEAR + 1))
            moved = sum(not near.isdisjoint(places) for places in own)
            if moved > _MOST_OF_A_MACHINE * len(own):
                found[one.id] = moved, len(own)
    return found


def _place(line: Line, alert: Alert) -> int | None:
    keys = {(one.machine, one.env_name) for one in alert.series}
    if line.key not in keys:
        return None
    commits = [one.commit for one in line.subjects]
    first = alert.first_bad.commit
    return commits.index(first) if first in commits else None
