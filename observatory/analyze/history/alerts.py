"""The states of changes for the worse: new, open, acknowledged, expired, resolved. Pure.

Every change is found again from the results each time; earlier alerts give only their ids and the
time at which they were first seen. An alert that is not found again is resolved with a reason if
its series are still measured; if they are not, it keeps its state and a note says so. One that was
over is withdrawn if its subjects were measured again and differ no more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from observatory.analyze.history.faults import FAULTS
from observatory.analyze.history.recorded import FEWEST_FOR_A_HABIT, SAME, Recorded, Run
from observatory.analyze.history.settings_changes import SETTINGS
from observatory.analyze.statements import Occurrence, Statement, id_of
from observatory.benchmarks.catalogue import CAUSES, FIRST_CAUSES
from observatory.store.records import alerts as records
from observatory.store.records.alerts import (
    Alert,
    Alerts,
    Change,
    SeriesChange,
)
from observatory.store.records.triage import Triage

STALE, FAILED = "stale", "failed run"
STALE_AFTER = timedelta(days=2)
"""Default of the time without a newer sample after which a machine is late."""
_OF_RUNS = (STALE, FAILED)
_OF_RECORDS = (FAULTS, SETTINGS)
_BY_ABOUT = (*_OF_RUNS, *_OF_RECORDS)
"""Kinds of alerts without series, which are known by what they are about."""
_FIRST = (*FIRST_CAUSES, FAILED, STALE)
"""Kinds that come before all others."""


@dataclass(frozen=True)
class AlertContext:
    """The time, after how long a run is late, the acknowledgements and the previous alerts."""

    now: datetime
    stale_after: timedelta
    triage: Triage
    previous: Alerts | None


@dataclass(frozen=True)
class FoundAlert:
    """An alert with its state, and statements for the texts of its record that are new.

    Where there is no statement, the alert is a previous one and keeps the text of its record.
    """

    alert: Alert
    statement: Statement | None = None
    resolution: Statement | None = None
    notes: Sequence[Statement] | None = None


def update_alerts(
    found: Iterable[Occurrence],
    recorded: Recorded,
    context: AlertContext,
    small: Iterable[Occurrence] = (),
) -> list[FoundAlert]:
    """Give every change for the worse its id and state; those that need a person come first.

    ``found``: every change of the results. Alerts of ``context.previous`` lend their ids and the
    time at which they were first seen; those that are not found again are resolved, or get a note
    where their series are no longer measured. ``small``: changes that are no alerts.
    """
    update = _Update(recorded, context, tuple(small))
    worse = [one for one in found if one.worse]
    before = {one.id: one for one in (context.previous.alerts if context.previous else ())}
    named = update.named([*worse, *update.of_runs(worse)], before)
    alerts = [update.alert(one, before.get(one.change.id)) for one in named]
    gone = before.keys() - {one.change.id for one in named}
    alerts += [update.not_found(before[id_], named) for id_ in sorted(gone)]
    return sorted(alerts, key=lambda found: _order(found.alert))


@dataclass(frozen=True)
class _Update:
    recorded: Recorded
    context: AlertContext
    small: Sequence[Occurrence]

    def of_runs(self, worse: Iterable[Occurrence]) -> Iterator[Occurrence]:
        """Newest runs that failed or are late."""
        crashed = {
            series.key[:3] for one in worse if one.change.kind == "crashed"
            for series in one.change.series if series.holds
        }  # fmt: skip
        for run in self.recorded.runs:
            where = run.name
            for how, cells in run.failures.items():
                # What alarms as a crash since its first subject is no second alert.
                left = [c for c in cells if (run.machine, run.env_name, c) not in crashed]
                if left:
                    statement = Statement("run failed", (run.subject.label, how, left))
                    yield _of_run(run, FAILED, f"{where}: {how}", statement)
            late = self.context.now - run.measured_at > self.context.stale_after
            if late and run.subjects >= FEWEST_FOR_A_HABIT:
                yield _of_run(run, STALE, where, Statement("run late", (where, run.measured_at)))

    def named(self, found: Sequence[Occurrence], before: Mapping[str, Alert]) -> list[Occurrence]:
        """The occurrences under the ids that they had before.

        A step may be placed a few subjects from where it was placed with fewer values: it is the
        same alert if its kind and one of its series are the same. Of several that could be, it is
        the one of that id, then the nearest one, then the one with most series in common. A run
        that fails or is late is the same alert until it is over.

        An id never passes to a change of other series: an acknowledgement would pass with it.
        """
        likely = sorted(
            (likeness, place, id_)
            for place, one in enumerate(found)
            for id_, likeness in self._alike(one.change, before.values())
        )
        ids: dict[int, str] = {}
        taken: set[str] = set()
        for _, place, id_ in likely:
            if place not in ids and id_ not in taken:
                ids[place] = id_
                taken.add(id_)
        named = []
        for place, one in enumerate(found):
            if place in ids:
                id_ = ids[place]
            else:
                id_ = _unused(one.change.id, taken | before.keys())
                taken.add(id_)
            named.append(one if id_ == one.change.id else one.renamed(id_))
        return named

    def _alike(
        self, change: Change, before: Iterable[Alert]
    ) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The ids of alerts that this change could be, and how well: the lowest is the best."""
        keys = {one.key for one in change.series}
        for alert in before:
            if alert.kind != change.kind:
                continue
            same = alert.id == change.id
            if change.kind in _BY_ABOUT:
                if same or (alert.about == change.about and alert.state != "resolved"):
                    yield alert.id, (not same,)
                continue
            far = self.recorded.distance(change, alert)
            if far is not None and far <= SAME:
                common = len(keys & {one.key for one in alert.series})
                yield alert.id, (not same, far, -common)

    def alert(self, one: Occurrence, before: Alert | None) -> FoundAlert:
        over, now = one.recovered, self.context.now
        if before is not None and before.state == "resolved" and over is None:
            before = None  # it is back
        alert = Alert(
            **one.change.model_dump(),
            state="resolved" if over else "new",
            first_seen=before.first_seen if before else now,
            seen_with=before.seen_with if before else self._seen_with(one.change),
            state_since=now,
            resolved_by=over,
        )
        return FoundAlert(
            self._with_state(alert, before),
            one.statement,
            Statement("over since", (over.label,)) if over else None,
            [] if over else list(self._notes(one.change.series)),
        )

    def _seen_with(self, change: Change) -> datetime:
        """When the newest sample was taken; the date of its subject for a change found late."""
        late = self.context.previous is None and not self.recorded.recent(change)
        return change.first_bad.date if late else self._newest

    @property
    def _newest(self) -> datetime:
        return self.recorded.newest or self.context.now

    def _with_state(self, alert: Alert, before: Alert | None) -> Alert:
        """The alert with its state, from its acknowledgement and from when it was first seen."""
        acknowledged, now = self.context.triage.of(alert.id), self.context.now
        state = alert.state
        if state != "resolved":
            if alert.kind in CAUSES and CAUSES[alert.kind].deliberate:
                state = "event"
            elif acknowledged is not None:
                state = "acknowledged" if acknowledged.until > now else "expired"
            else:
                state = "new" if alert.seen_with == self._newest else "open"
        since = before.state_since if before and before.state == state else now
        news = {"state": state, "acknowledged": acknowledged, "state_since": since}
        return alert.model_copy(update=news)

    def not_found(self, alert: Alert, named: Iterable[Occurrence]) -> FoundAlert:
        """A previous alert for which the results give no occurrence any more."""
        unread = self._unread(alert)
        if alert.state == "resolved":
            if alert.resolved_by is None or unread or not self.recorded.differs_no_more(alert):
                return FoundAlert(alert)
            never = alert.model_copy(update={"resolved_by": None})
            return FoundAlert(never, resolution=Statement("withdrawn"))
        near = self._near(alert, named)
        measured = any(
            alert.first_bad.commit in positions
            for lines in self.recorded.lines.values()
            for positions in lines
        )
        resolution: Statement | None = None
        if alert.kind in _OF_RUNS:
            if self._ran_again(alert) and not unread:
                resolution = Statement("measured again" if alert.kind == STALE else "fails no more")
        elif alert.kind in _OF_RECORDS:
            if self.recorded.compares(alert):
                resolution = Statement("withdrawn")
        elif near is not None:
            resolution = Statement("part of", (near.change.id,))
        elif self._near(alert, self.small) is not None:
            resolution = Statement("small now")
        elif measured and any(one.key in self.recorded.series for one in alert.series):
            resolution = None if unread else _withdrawn(alert)
        if resolution is not None:
            # Nobody follows its series any more: none of them holds under this alert.
            over = [one.model_copy(update={"holds": False}) for one in alert.series]
            news = {"state": "resolved", "state_since": self.context.now, "series": over}
            return FoundAlert(alert.model_copy(update=news), resolution=resolution, notes=[])
        note = Statement("unread") if unread else _gone(alert, measured)
        return FoundAlert(self._with_state(alert, alert), notes=[note])

    def _unread(self, alert: Alert) -> bool:
        """Whether something of its machine could not be read."""
        return any(
            f"{alert.about}, ".startswith((f"{machine}, ", f"{machine}: "))
            if alert.kind in _BY_ABOUT
            else any(one.machine == machine for one in alert.series)
            for machine in self.recorded.unread
        )

    def _ran_again(self, alert: Alert) -> bool:
        """Whether the newest run there is known, for an alert about one that failed or was late."""
        return any(
            alert.about == run.name or alert.about.startswith(f"{run.name}: ")
            for run in self.recorded.runs
        )

    def _near(self, alert: Alert, among: Iterable[Occurrence]) -> Occurrence | None:
        """The first change that begins near an alert in one of its series."""
        distances = ((self.recorded.distance(one.change, alert), one) for one in among)
        return next((one for far, one in distances if far is not None and far <= 2 * SAME), None)

    def _notes(self, series: Sequence[SeriesChange]) -> Iterator[Statement]:
        """A note where the newest level is not that of the newest subject."""
        newest = {(run.machine, run.env_name): run.subject for run in self.recorded.runs}
        # The times that came with a count only describe it: they are not followed.
        followed = [one for one in series if one.now is not None]
        ended = [
            one for one in followed
            if one.newest.commit != newest.get((one.machine, one.env_name), one.newest).commit
        ]  # fmt: skip
        if ended:
            latest = max((one.newest for one in ended), key=lambda at: at.date)
            yield Statement("series ended", (len(ended), len(followed), latest.label))


def _unused(id_: str, used: Collection[str]) -> str:
    """The id, or one made of it and a number: two causes of one kind can begin at one subject."""
    found, number = id_, 1
    while found in used:
        number += 1
        found = id_of(id_, str(number))
    return found


def _gone(alert: Alert, measured: bool) -> Statement:
    """What the results lack, so that nobody knows whether an alert holds.

    ``measured``: whether they have its subject.
    """
    if alert.kind in _OF_RUNS:
        return Statement("no run there", (alert.about,))
    if alert.kind in _OF_RECORDS:
        return Statement("records gone")
    gone = Statement("subject gone", (alert.first_bad.label,))
    return Statement("series gone") if measured else gone


def _withdrawn(alert: Alert) -> Statement:
    """Why an alert is withdrawn of which the series are there, and no change in them is.

    What counts as a change of work does not only follow from its values, but from a learned noise.
    """
    kinds = {one.kind for one in alert.series}
    work = "near_exact" in kinds and "exact" not in kinds
    return Statement("counts no more" if work else "withdrawn")


def _of_run(run: Run, kind: str, about: str, statement: Statement) -> Occurrence:
    change = Change(
        id=id_of(kind, about, run.subject.commit), kind=kind, about=about[:4000],
        sentence="", last_good=None, first_bad=run.subject, between=0,
    )  # fmt: skip
    return Occurrence(change, True, statement)


def _order(alert: Alert) -> tuple[int, int, float, str]:
    kind = _FIRST.index(alert.kind) if alert.kind in _FIRST else len(_FIRST)
    return records.STATES.index(alert.state), kind, -alert.first_bad.date.timestamp(), alert.id
