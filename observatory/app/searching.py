"""Search for what made a change: along releases, then their commits, then what a merge brought."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from observatory.app.bisection import Sought, bisect
from observatory.app.session import Session
from observatory.benchmarks.catalogue import METRICS, SCENARIOS, Cell
from observatory.errors import ObservatoryError, SelectionError
from observatory.run.git import Git
from observatory.run.sources import commits_between, of_commit
from observatory.store.base.problems import RecordError
from observatory.store.records import alerts as alerts_record
from observatory.store.records import searches
from observatory.store.records.alerts import Alert, At, SeriesChange, State
from observatory.store.records.searches import Culprit, Searched
from observatory.text.words import several

_RELEASE = re.compile(r"\d+(\.\d+)+")
_HASH = re.compile(r"[0-9a-f]{40}")
_WAITING: tuple[State, ...] = ("new", "expired", "open")


@dataclass(frozen=True)
class Wanted:
    """What is searched for: the ends of a range, a cell and a metric."""

    good: str
    bad: str
    cell: Cell
    metric: str


@dataclass(frozen=True)
class Searcher:
    """How searches are carried out."""

    session: Session
    repo: Path | None = None
    """A clone of PyTensor."""
    confirm: bool = True
    extras: Sequence[str] = ()
    """Further requirements of every subject."""
    python: str | None = None

    def search(self, wanted: Wanted) -> Iterator[Searched]:
        """The search along releases, then along commits between two of them; or commits alone.

        Then along the commits that a merge brought, where one is the culprit. Raises as `bisect`
        does, and SelectionError if the ends are commits of no clone.
        """
        ends = wanted.good, wanted.bad
        repo = self.repo
        released = all(_RELEASE.fullmatch(end) for end in ends)
        if not released and repo is None:
            raise SelectionError(
                f"{' and '.join(ends)} are not releases: name their clone with --repo"
            )
        ranges: list[tuple[str, str, tuple[At, At] | None]] = [(*ends, None)]
        if released:
            # Commits say more: the releases are measured again only where none follow.
            confirm = self.confirm and repo is None
            found = self._bisect(wanted, ["..".join(ends)], confirm=confirm)
            yield found
            if not found.finished:
                return
            ranges = [
                (f"rel-{one.before.label}", f"rel-{one.after.label}", (one.before, one.after))
                for one in found.culprits
            ]
        if repo is None:
            return
        missing = [tag for good, bad, _ in ranges for tag in (good, bad) if not _known(repo, tag)]
        if released and missing:
            self.session.say(
                f"{repo} has no {', '.join(dict.fromkeys(missing))}: run `git fetch --tags` in it "
                "to search along commits",
                "warning",
            )
            yield self._bisect(wanted, ["..".join(ends)])
            ranges = [one for one in ranges if one[0] not in missing and one[1] not in missing]
        for good, bad, within in ranges:
            texts = [*commits_between(repo, good), *commits_between(repo, f"{good}..{bad}")]
            found = self._bisect(wanted, texts, within)
            yield found
            for culprit in found.culprits:
                if texts := brought_by(repo, culprit):
                    yield self._bisect(wanted, texts, (culprit.before, culprit.after))

    def _bisect(
        self, wanted: Wanted, texts: Sequence[str], within: tuple[At, At] | None = None,
        confirm: bool | None = None,
    ) -> Searched:  # fmt: skip
        session = self.session
        subjects = session.subjects.parse_all(texts, self.extras, self.python)
        there = {one.commit for one in subjects}
        known = searches.known(session.results)
        likely = {
            at.commit for one in known for each in one.culprits for at in (each.before, each.after)
        }
        return bisect(session, Sought(
            subjects, wanted.cell, wanted.metric, self.repo, within, likely & there,
            self.confirm if confirm is None else confirm,
        ))  # fmt: skip


def _known(repo: Path, ref: str) -> bool:
    return Git(repo).resolved(ref) is not None


def brought_by(repo: Path, culprit: Culprit) -> list[str]:
    """The commits of the branch that a culprit merged, as texts of subjects: base, each, merge.

    Empty if the culprit is no merge, or merged a single commit. What a branch began from need not
    be the culprit's first parent, so that a change may lie in the merge itself.
    """
    git, merge = Git(repo), culprit.after.commit
    if not _HASH.fullmatch(merge) or git.resolved(merge) is None:
        return []
    parents = git.text("show", "--no-patch", "--format=%P", merge).split()
    if len(parents) < 2:
        return []
    base = git.text("merge-base", parents[0], parents[1]).strip()
    commits = commits_between(repo, f"{base}..{parents[1]}")
    if len(commits) < 2:
        return []
    return [of_commit(repo, base), *commits, of_commit(repo, merge)]


def wanted_of(alert: Alert) -> Wanted:
    """The last good and the first bad subject of an alert, and the series that moved the most.

    Raises SelectionError if no single sample tells the change.
    """
    series = _searchable(alert)
    if series is None:
        if all(one.last_good is None for one in alert.series):
            raise SelectionError(
                f"alert {alert.id} has no good subject before it: there is no range to search"
            )
        names = ", ".join(sorted({one.metric for one in alert.series}))
        raise SelectionError(
            f"alert {alert.id} is about {names}, which no single sample tells; the command for "
            f"git bisect is on its page, html/alerts/{alert.id}.html "
            "(`observatory dashboard` builds it)"
        )
    assert series.last_good is not None
    return Wanted(
        _end(series.last_good), _end(series.first_bad), Cell(*series.benchmark.split()),
        series.metric,
    )  # fmt: skip


def wanted_named(
    results: Path, ends: Sequence[str], cell: str, metric: str, otherwise: str = ""
) -> Wanted:
    """What a person asks for: by the id of an alert, or by two ends, a cell and a metric.

    ``otherwise``: what else the command accepts. Raises SelectionError.
    """
    if len(ends) == 1:
        return of_alert(results, ends[0])
    if len(ends) != 2:
        raise SelectionError(f"give the id of one alert, or two ends: GOOD BAD{otherwise}")
    if metric not in METRICS:
        raise SelectionError(f"there is no metric {metric!r}; docs/reference/metrics.md lists them")
    words = cell.split()
    if len(words) != 4:
        raise SelectionError(
            f"--cell {cell!r} is not a cell: write its model, scenario, backend and start method, "
            'as in "radon warm_disk NUMBA spawn"'
        )
    good, bad = ends
    return Wanted(good, bad, Cell(*words), metric)


def of_alert(results: Path, name: str) -> Wanted:
    """What the alert whose id begins so wants. Raises SelectionError if there is none."""
    file = alerts_record.load(results)
    known: Sequence[Alert] = () if file is None else file.alerts
    alert = next((one for one in known if one.id.startswith(name)), None)
    if alert is None:
        raise SelectionError(f"{results} has no alert {name!r}; `observatory alerts` lists them")
    return wanted_of(alert)


def search_open(searcher: Searcher) -> Iterator[Searched]:
    """Search for the culprit of every alert that waits and has none yet.

    Counts come first, and of these the quickest to measure. An alert whose search cannot be carried
    out is named, and the others go on. Stops when the time of the session is over.
    """
    session = searcher.session
    file = alerts_record.load(session.results)
    waiting = [] if file is None else file.in_state(*_WAITING)

    def over(alert: Alert) -> bool:
        return searched(session.results, alert, commits=searcher.repo is not None)

    left = sorted(
        (one for one in waiting if _searchable(one) and not over(one)),
        key=_cost,
    )
    session.say(f"{several(len(left), 'alert')} to search for")
    for place, alert in enumerate(left):
        if time.monotonic() > session.deadline:
            session.say(f"the time is over before {several(len(left) - place, 'alert')}", "warning")
            return
        if over(alert):
            continue  # by the search for another one
        wanted = wanted_of(alert)
        if searcher.repo is None and not _RELEASE.fullmatch(wanted.good):
            session.say(f"alert {alert.id}: its commits need --repo", "warning")
            continue
        try:
            yield from searcher.search(wanted)
        except RecordError:
            raise
        except ObservatoryError as error:
            session.say(f"alert {alert.id}: {error}", "warning")


def open_ranges(results: Path) -> list[tuple[str, str]]:
    """The last good and the first bad commit of each alert that waits, as it was found last."""
    with contextlib.suppress(RecordError):  # whoever finds alerts reports it
        if found := alerts_record.load(results):
            waiting = found.in_state(*_WAITING)
            return [(a.last_good.commit, a.first_bad.commit) for a in waiting if a.last_good]
    return []


def searched(results: Path, alert: Alert, commits: bool = True) -> bool:
    """Whether a finished search was about this alert.

    ``commits``: whether a search along releases has to have gone on with their commits.
    """
    known = searches.known(results)
    found = searches.of_change(known, alert)
    if not found or not all(one.finished for one in found):
        return False
    good = alert.last_good
    releases = good is not None and _RELEASE.fullmatch(good.label) is not None
    named = any(one.within is not None for one in found)
    return named or not (commits and releases) or not any(one.culprits for one in found)


def _searchable(alert: Alert) -> SeriesChange | None:
    """The series that moved the most and whose metric few samples tell; counts come first."""
    found = [
        one for one in alert.series
        if one.kind != "noisy" and one.metric in METRICS and one.last_good is not None
    ]  # fmt: skip
    return min(found, key=lambda one: one.kind != "exact", default=None)


def _cost(alert: Alert) -> tuple[bool, float]:
    """Whether it is no count, and about how many seconds a sample takes."""
    series = _searchable(alert)
    if series is None:
        return True, 0.0
    cell = Cell(*series.benchmark.split())
    known = SCENARIOS.get(cell.scenario)
    return series.kind != "exact", 0.0 if known is None else known.seconds_with(cell.backend)


def _end(at: At) -> str:
    """A release, with its further requirements if it has any; else the commit."""
    return at.label if _RELEASE.fullmatch(at.label.partition(" ")[0]) else at.commit
