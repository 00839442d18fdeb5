"""The states of changes for the worse: new, open, acknowledged, expired, resolved. Pure.

Every change is found again from the results each time; earlier alerts give only their ids and the
time at which they were first seen. An alert that is not found again is resolved, with a sentence
that says why, if its series are still measured; if they are not, it stays what it was and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from benchmarks.catalogue import FIRST_CAUSES
from observatory.analyze.history.grouping import Occurrence, id_of
from observatory.analyze.history.steps import PARAMETERS
from observatory.analyze.statements import Statement
from observatory.store.records.alerts import (
    STATES,
    Alert,
    Alerts,
    At,
    Change,
    SeriesChange,
    SeriesId,
)
from observatory.store.records.triage import Triage

SAME = PARAMETERS.fewest - 1
"""Subjects by which the place of a step may move, as more of them are measured: two steps of one
series lie further apart."""
STALE, FAILED = "stale", "failed run"
STALE_AFTER = timedelta(days=2)
"""Without a newer sample for so long a machine is late, where nothing else is said."""
_OF_RUNS = (STALE, FAILED)
FEWEST_FOR_A_HABIT = 3
"""Subjects measured somewhere from which on it is missed if nothing comes any more."""
_FIRST = (*FIRST_CAUSES, FAILED, STALE)
"""Kinds that come before all others."""


@dataclass(frozen=True)
class Run:
    """What was measured last on one machine in one environment."""

    machine: str
    env_name: str
    subject: At
    measured_at: datetime
    subjects: int = FEWEST_FOR_A_HABIT
    """How many were ever measured there."""
    failures: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """How samples of the newest subject failed, and in which cells."""


@dataclass(frozen=True)
class Recorded:
    """What the results hold, beside the changes in them."""

    runs: tuple[Run, ...]
    series: frozenset[SeriesId]
    """The key of every series that has a value."""
    lines: Mapping[tuple[str, str], Sequence[Mapping[str, int]]]
    """Of each machine and environment: the place of each commit on its lines."""

    @property
    def newest(self) -> datetime | None:
        """When the newest sample was taken."""
        return max((run.measured_at for run in self.runs), default=None)

    def recent(self, change: Change) -> bool:
        """Whether it begins among the last subjects of a line, or is of no line at all."""
        where = {(one.machine, one.env_name) for one in change.series}
        found = [
            len(places) - 1 - places[change.first_bad.commit]
            for place in where
            for places in self.lines.get(place, ())
            if change.first_bad.commit in places
        ]
        return not found or min(found) <= SAME

    def apart(self, change: Change, alert: Alert) -> int | None:
        """Subjects between where they begin, on a line of a series that both have."""
        keys = {one.key for one in change.series} & {one.key for one in alert.series}
        commits = change.first_bad.commit, alert.first_bad.commit
        found = [
            abs(places[commits[0]] - places[commits[1]])
            for machine, env_name, *_ in keys
            for places in self.lines.get((machine, env_name), ())
            if all(commit in places for commit in commits)
        ]
        return min(found, default=None)


@dataclass(frozen=True)
class AlertContext:
    """The time, after how long a run is late, and what people and the last alerts said."""

    now: datetime
    stale_after: timedelta
    triage: Triage
    previous: Alerts | None


@dataclass(frozen=True)
class FoundAlert:
    """An alert with its state, and statements for the texts of its record that are new.

    Where there is no statement, the alert was known before and keeps the text of its record.
    """

    alert: Alert
    statement: Statement | None = None
    resolution: Statement | None = None
    notes: Sequence[Statement] | None = None


def update_alerts(
    found: Iterable[Occurrence], recorded: Recorded, context: AlertContext
) -> list[FoundAlert]:
    """Give every change for the worse its id and state; those that need a person come first.

    ``found``: every change of the results. Alerts of ``context.previous`` lend their ids and the
    time at which they were first seen; those that are not found again are resolved, or get a note
    where their series are no longer measured.
    """
    worse = [one for one in found if one.worse]
    worse += _of_runs(worse, recorded, context)
    before = {alert.id: alert for alert in (context.previous.alerts if context.previous else ())}
    named = _named(worse, before, recorded)
    alerts = [_alert(one, before.get(one.change.id), recorded, context) for one in named]
    gone = before.keys() - {one.change.id for one in named}
    alerts += [_not_found(before[id_], named, recorded, context) for id_ in sorted(gone)]
    return sorted(alerts, key=lambda one: _order(one.alert))


def _of_runs(
    found: Sequence[Occurrence], recorded: Recorded, context: AlertContext
) -> Iterator[Occurrence]:
    crashed = {
        one.key[:3] for each in found if each.change.kind == "crashed" for one in each.change.series
        if one.holds
    }  # fmt: skip
    for run in recorded.runs:
        place = f"{run.machine}, {run.env_name}" if run.env_name else run.machine
        for how, cells in run.failures.items():
            # What alarms as a crash since its first subject is no second alert.
            left = [c for c in cells if (run.machine, run.env_name, c) not in crashed]
            if left:
                statement = Statement("run failed", (run.subject.label, how, left))
                yield _about(run, FAILED, f"{place}: {how}", statement)
        late = context.now - run.measured_at > context.stale_after
        if late and run.subjects >= FEWEST_FOR_A_HABIT:
            yield _about(run, STALE, place, Statement("run late", (place, run.measured_at)))


def _about(run: Run, kind: str, about: str, statement: Statement) -> Occurrence:
    change = Change(
        id=id_of(kind, about, run.subject.commit), kind=kind, about=about[:4000],
        sentence="", last_good=None, first_bad=run.subject, between=0,
    )  # fmt: skip
    return Occurrence(change, True, statement)


def _named(
    found: Sequence[Occurrence], before: Mapping[str, Alert], recorded: Recorded
) -> list[Occurrence]:
    """The occurrences under the ids that they had before.

    A step may be placed a few subjects from where it was placed with fewer values: it is the same
    if kind and direction are, and a series of it is. What fails or is late is the same until it
    is over.
    """
    taken = {one.change.id for one in found} & before.keys()
    named: dict[str, Occurrence] = {}
    for one in found:
        same = None
        if one.change.id not in taken:
            same = _same(one.change, [a for a in before.values() if a.id not in taken], recorded)
        if same is not None:
            taken.add(same.id)
            one = one.renamed(same.id)
        number = 1
        while one.change.id in named:  # two causes of one kind at one subject
            number += 1
            one = one.renamed(id_of(one.change.id, str(number)))
        named[one.change.id] = one
    return list(named.values())


def _same(change: Change, before: Iterable[Alert], recorded: Recorded) -> Alert | None:
    kin = [alert for alert in before if alert.kind == change.kind]
    if change.kind in _OF_RUNS:
        live = (a for a in kin if a.about == change.about and a.state != "resolved")
        return next(live, None)
    apart = [(recorded.apart(change, alert), alert) for alert in kin]
    near = [(far, alert) for far, alert in apart if far is not None and far <= SAME]
    return min(near, key=lambda pair: pair[0])[1] if near else None


def _alert(
    one: Occurrence, before: Alert | None, recorded: Recorded, context: AlertContext
) -> FoundAlert:
    over = one.recovered
    if before is not None and before.state == "resolved" and over is None:
        before = None  # it is back
    alert = Alert(
        **one.change.model_dump(),
        state="resolved" if over else "new",
        first_seen=before.first_seen if before else context.now,
        seen_with=before.seen_with if before else _seen_with(one.change, recorded, context),
        state_since=context.now,
        resolved_by=over,
    )
    return FoundAlert(
        _stated(alert, before, recorded, context),
        one.statement,
        Statement("over since", (over.label,)) if over else None,
        [] if over else list(_notes(one.change.series, recorded)),
    )


def _seen_with(change: Change, recorded: Recorded, context: AlertContext) -> datetime:
    """The newest sample; for what is old and only looked for now, the subject that it is of."""
    old = context.previous is None and not recorded.recent(change)
    return change.first_bad.date if old else recorded.newest or context.now


def _stated(alert: Alert, before: Alert | None, recorded: Recorded, context: AlertContext) -> Alert:
    """The alert with its state by what people said and by when it was first seen."""
    said = context.triage.of(alert.id)
    state = alert.state
    if state != "resolved":
        if said is not None:
            state = "acknowledged" if said.until > context.now else "expired"
        else:
            state = "new" if alert.seen_with == (recorded.newest or context.now) else "open"
    since = before.state_since if before and before.state == state else context.now
    return alert.model_copy(update={"state": state, "acknowledged": said, "state_since": since})


def _not_found(
    alert: Alert, named: Sequence[Occurrence], recorded: Recorded, context: AlertContext
) -> FoundAlert:
    """An alert of before that nothing in the results says any more."""
    if alert.state == "resolved":
        return FoundAlert(alert)
    if alert.kind in _OF_RUNS:
        over = Statement("measured again" if alert.kind == STALE else "fails no more")
        return _resolved(alert, over, context)
    for one in named:
        apart = recorded.apart(one.change, alert)
        if apart is not None and apart <= 2 * SAME:
            return _resolved(alert, Statement("part of", (one.change.id,)), context)
    there = [one for one in alert.series if one.key in recorded.series]
    measured = any(
        alert.first_bad.commit in places for lines in recorded.lines.values() for places in lines
    )
    if measured and there:
        return _resolved(alert, Statement("withdrawn"), context)
    gone = Statement("subject gone", (alert.first_bad.label,))
    note = Statement("series gone") if measured else gone
    return FoundAlert(_stated(alert, alert, recorded, context), notes=[note])


def _resolved(alert: Alert, resolution: Statement, context: AlertContext) -> FoundAlert:
    news = {"state": "resolved", "state_since": context.now}
    return FoundAlert(alert.model_copy(update=news), resolution=resolution)


def _notes(series: Sequence[SeriesChange], recorded: Recorded) -> Iterator[Statement]:
    """What keeps a reader from taking the newest level for that of the newest subject."""
    newest = {(run.machine, run.env_name): run.subject for run in recorded.runs}
    # What only describes, as the times that came with a count, is not followed.
    followed = [one for one in series if one.now is not None]
    ended = [
        one for one in followed
        if one.newest.commit != newest.get((one.machine, one.env_name), one.newest).commit
    ]  # fmt: skip
    if ended:
        latest = max((one.newest for one in ended), key=lambda at: at.date)
        yield Statement("series ended", (len(ended), len(followed), latest.label))


def _order(alert: Alert) -> tuple[int, int, float, str]:
    kind = _FIRST.index(alert.kind) if alert.kind in _FIRST else len(_FIRST)
    return STATES.index(alert.state), kind, -alert.first_bad.date.timestamp(), alert.id
