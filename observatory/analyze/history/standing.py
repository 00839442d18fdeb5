"""How the alerts stand this morning: which are news, which are open for long, which are over. Pure.

A page, and whoever else speaks of all alerts at once, says what follows from here: red is for what
is new or wrong, amber for what is old and open, green for everything else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from observatory.analyze.history.alerts import FAILED, STALE
from observatory.analyze.history.policy import impact
from observatory.analyze.history.segments import SegmentedSeries
from observatory.benchmarks.catalogue import FIRST_CAUSES
from observatory.store.records.alerts import Alert, Alerts

Light = Literal["bad", "open", "good", "unknown"]
"""Red, amber, green; unknown where nothing could be judged."""
RETIRED_AFTER = timedelta(days=30)
"""A series is retired that its machine has not measured for so long, while it measured others."""


@dataclass(frozen=True)
class Standing:
    """The alerts by what a person does about them.

    Those that need a person come by impact: what may be wrong, then counts, then the largest sure
    changes. The others are in the order of the file.
    """

    light: Light
    new: tuple[Alert, ...]
    """First seen with the newest measurements, or with an acknowledgement that has ended."""
    waiting: tuple[Alert, ...]
    """Older ones, about which nobody has decided."""
    acknowledged: tuple[Alert, ...]
    late: tuple[Alert, ...]
    """Of machines and environments that send nothing."""
    failed: tuple[Alert, ...]
    events: tuple[Alert, ...]
    """Of changes that somebody made on purpose."""
    retired: tuple[Alert, ...]
    """Whose series are no longer measured: nobody needs to decide about them."""
    untold: bool
    """Whether something of the newest subject is wrong that no alert speaks of."""

    @property
    def needing(self) -> tuple[Alert, ...]:
        """Those about which somebody has to decide."""
        return (*self.failed, *self.new, *self.waiting, *self.late)

    @property
    def wrong(self) -> tuple[Alert, ...]:
        """Those that wait and say that values are wrong, or may be."""
        return tuple(one for one in self.waiting if one.kind in FIRST_CAUSES)

    @property
    def shown(self) -> tuple[Alert, ...]:
        """Those that the first page lists, in the order in which they need a person."""
        return (*self.failed, *self.new, *self.waiting, *self.acknowledged)


def urgency(alert: Alert) -> tuple[bool, float]:
    """By what alerts are sorted: whether values may be wrong, then their impact.

    The impact of counts is infinite.
    """
    counted = any(one.kind == "exact" for one in alert.series)
    return alert.kind in FIRST_CAUSES, math.inf if counted else impact(alert.series)


def standing(alerts: Alerts) -> Standing:
    """Sort the alerts.

    Where values of the newest subject are wrong, a filled cache misses, or it crashes, what an
    alert speaks of is not said again.
    """
    wrong = {(one.benchmark, one.metric) for one in alerts.wrong or ()}
    known = {
        (series.benchmark, series.metric)
        for one in alerts.in_state("acknowledged", "open", "event")
        for series in one.series
        if series.holds
    }
    retired = set(alerts.retired or ())
    live = [one for one in alerts.alerts if one.state != "resolved" and one.id not in retired]
    events = tuple(one for one in live if one.state == "event")
    undecided = alerts.needing()
    needing = sorted(
        (one for one in undecided if one.kind not in (STALE, FAILED)), key=urgency, reverse=True
    )
    new = tuple(one for one in needing if one.state in ("new", "expired"))
    waiting = tuple(one for one in needing if one.state == "open")
    late = tuple(one for one in undecided if one.kind == STALE)
    failed = tuple(one for one in undecided if one.kind == FAILED)
    untold = not known.issuperset(wrong)
    grave = any(one.kind in FIRST_CAUSES for one in waiting)
    bad = untold or grave or new or failed
    light: Light = "bad" if bad else "open" if waiting or late else "good"
    if light == "good" and not (alerts.judged or alerts.compared):
        light = "unknown"
    return Standing(
        light=light, new=new, waiting=waiting,
        acknowledged=tuple(one for one in live if one.state == "acknowledged"),
        late=late, failed=failed, events=events,
        retired=tuple(
            one for one in alerts.alerts if one.id in retired and one.state != "resolved"
        ),
        untold=untold,
    )  # fmt: skip


def by_need(alerts: Alerts) -> list[Alert]:
    """All alerts, those that need a person first, as pages list them; resolved ones come last."""
    now = standing(alerts)
    return [
        *now.needing, *now.acknowledged, *now.events, *now.retired, *alerts.in_state("resolved")
    ]  # fmt: skip


def retired_alerts(alerts: Iterable[Alert], tracks: Sequence[SegmentedSeries]) -> frozenset[str]:
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
    for one in alerts:
        if one.state == "resolved":
            continue
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
