"""What becomes of changes for the worse: new, open, acknowledged, expired, resolved. Pure.

Everything is found anew from the results each time; the alerts before only lend ids and the time
at which something was first seen. An alert that is not found again is resolved, with a sentence
that says why, if its series are still measured; if they are not, it stays what it was and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from observatory.decide.changes import Occurrence, id_of
from observatory.decide.steps import PARAMETERS
from observatory.record.alerts import STATES, Alert, Alerts, At, Change, SeriesChange
from observatory.record.triage import Triage

SAME = PARAMETERS.fewest - 1
"""Subjects by which the place of a step may move, as more of them are measured: two steps of one
series lie further apart."""
STALE, FAILED = "stale", "failed run"
_OF_RUNS = (STALE, FAILED)
_FIRST = ("wrong results", "crashed", FAILED, STALE)
"""Kinds that come before all others."""


@dataclass(frozen=True)
class Run:
    """What was measured last on one machine in one environment."""

    machine: str
    env_name: str
    subject: At
    measured_at: datetime
    failures: tuple[str, ...] = ()
    """A sentence for each cell of the newest subject that failed."""


@dataclass(frozen=True)
class Known:
    """What the results hold, beside the changes in them."""

    runs: tuple[Run, ...]
    series: frozenset[tuple[str, str, str, str]]
    """The key of every series that has a value."""
    ranks: Mapping[str, int]
    """For each commit its place in the history of all subjects."""

    @property
    def newest(self) -> datetime | None:
        """When the newest sample was taken."""
        return max((run.measured_at for run in self.runs), default=None)


@dataclass(frozen=True)
class Moment:
    """When it is, and what was said and known before."""

    now: datetime
    stale_after: timedelta
    triage: Triage
    previous: Alerts | None


def alive(found: Iterable[Occurrence], known: Known, moment: Moment) -> list[Alert]:
    """The alerts of these results, those that need a person most first."""
    occurred = [one for one in [*found, *_of_runs(known, moment)] if one.worse]
    before = {alert.id: alert for alert in (moment.previous.alerts if moment.previous else ())}
    named = _named(occurred, before, known.ranks)
    alerts = [_alert(one, before.get(one.change.id), known, moment) for one in named]
    gone = before.keys() - {one.change.id for one in named}
    alerts += [_not_found(before[id_], known, moment) for id_ in sorted(gone)]
    return sorted(alerts, key=_order)


def _of_runs(known: Known, moment: Moment) -> Iterator[Occurrence]:
    machines: dict[str, Run] = {}
    for run in sorted(known.runs, key=lambda r: r.measured_at):
        machines[run.machine] = run
        if run.failures:
            yield _about(run, FAILED, (run.machine, run.env_name),
                         f"{run.subject.label}: {'; '.join(run.failures)}")  # fmt: skip
    for run in machines.values():
        age = moment.now - run.measured_at
        if age > moment.stale_after:
            since = f"{run.measured_at:%Y-%m-%d %H:%M} UTC"
            yield _about(run, STALE, (run.machine,),
                         f"nothing was measured on {run.machine} since {since}")  # fmt: skip


def _about(run: Run, kind: str, words: Sequence[str], sentence: str) -> Occurrence:
    change = Change(
        id=id_of(kind, *words), kind=kind, sentence=sentence[:4000], last_good=None,
        first_bad=run.subject, between=0,
    )  # fmt: skip
    return Occurrence(change, worse=True)


def _named(
    found: Sequence[Occurrence], before: Mapping[str, Alert], ranks: Mapping[str, int]
) -> list[Occurrence]:
    """The occurrences under the ids that they were known by.

    A step may be placed a few subjects from where it was placed with fewer values: it is the same
    if kind and direction are, and a series of it is.
    """
    taken = {one.change.id for one in found} & before.keys()
    named: dict[str, Occurrence] = {}
    for one in found:
        if one.change.id not in taken:
            known = _same(one.change, [a for a in before.values() if a.id not in taken], ranks)
            if known is not None:
                taken.add(known.id)
                one = one.renamed(known.id)
        number = 1
        while one.change.id in named:  # two causes of one kind at one subject
            number += 1
            one = one.renamed(id_of(one.change.id, str(number)))
        named[one.change.id] = one
    return list(named.values())


def _same(change: Change, before: Iterable[Alert], ranks: Mapping[str, int]) -> Alert | None:
    keys = {one.key for one in change.series}
    place = ranks.get(change.first_bad.commit)
    best: tuple[int, Alert] | None = None
    for alert in before:
        other = ranks.get(alert.first_bad.commit)
        if alert.kind != change.kind or place is None or other is None:
            continue
        apart = abs(place - other)
        if apart <= SAME and not keys.isdisjoint(one.key for one in alert.series):
            best = min(best or (apart, alert), (apart, alert), key=lambda pair: pair[0])
    return None if best is None else best[1]


def _alert(one: Occurrence, before: Alert | None, known: Known, moment: Moment) -> Alert:
    assert known.newest is not None  # something was measured, or nothing had changed
    over = one.recovered
    if before is not None and before.state == "resolved" and over is None:
        before = None  # it is back
    return _stated(
        Alert(
            **one.change.model_dump(),
            state="resolved" if over else "new",
            first_seen=before.first_seen if before else moment.now,
            seen_with=before.seen_with if before else known.newest,
            resolution=f"it is over since {over.label}" if over else None,
            resolved_by=over,
            notes=list(_notes(one.change.series, known)),
        ),
        known,
        moment,
    )


def _stated(alert: Alert, known: Known, moment: Moment) -> Alert:
    """The alert with its state by what people said and by how long it is known."""
    said = moment.triage.of(alert.id)
    state = alert.state
    if state != "resolved":
        if said is not None:
            state = "acknowledged" if said.until > moment.now else "expired"
        else:
            state = "new" if alert.seen_with == known.newest else "open"
    return alert.model_copy(update={"state": state, "acknowledged": said})


def _not_found(alert: Alert, known: Known, moment: Moment) -> Alert:
    """An alert of before that nothing in the results says any more."""
    if alert.state == "resolved":
        return alert
    if alert.kind in _OF_RUNS:
        said = "measured again" if alert.kind == STALE else "the newest run has no such failure"
        return alert.model_copy(update={"state": "resolved", "resolution": said})
    left = [one for one in alert.series if one.key in known.series]
    if alert.first_bad.commit in known.ranks and left:
        said = "withdrawn: with what was measured since, no change is seen there any more"
        return alert.model_copy(update={"state": "resolved", "resolution": said})
    note = (
        "its benchmarks are no longer in the results (renamed or removed): whether it still holds "
        "cannot be told; acknowledge it if that is meant"
    )
    return _stated(alert.model_copy(update={"notes": [note]}), known, moment)


def _notes(series: Sequence[SeriesChange], known: Known) -> Iterator[str]:
    """What keeps a reader from taking the newest level for that of the newest subject."""
    newest = {(run.machine, run.env_name): run.subject for run in known.runs}
    ended = [
        one for one in series
        if one.newest.commit != newest.get((one.machine, one.env_name), one.newest).commit
    ]  # fmt: skip
    if ended:
        latest = max((one.newest for one in ended), key=lambda at: at.date)
        many = f"{len(ended)} of its {len(series)} series have" if len(series) > 1 else "it has"
        yield f"{many} no value since {latest.label}: not measured, failed, renamed or removed"


def _order(alert: Alert) -> tuple[int, int, float, str]:
    kind = _FIRST.index(alert.kind) if alert.kind in _FIRST else len(_FIRST)
    return STATES.index(alert.state), kind, -alert.first_bad.date.timestamp(), alert.id
