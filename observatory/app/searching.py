"""Search for what made a change: along releases, then their commits, then what a merge brought."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

from observatory.app.bisection import Sought, bisect
from observatory.app.probing import OutOfTimeError, Prober
from observatory.app.session import Session
from observatory.app.wanted import RELEASE, Wanted, cost, searchable_series, wanted_of
from observatory.benchmarks.catalogue import COMPARED, metrics_of
from observatory.errors import ObservatoryError, SelectionError
from observatory.run import counter
from observatory.run.git import Git
from observatory.run.sources import commits_between, of_commit
from observatory.store.base.problems import RecordError
from observatory.store.records import alerts as alerts_record
from observatory.store.records import searches
from observatory.store.records.alerts import Alert, At, State
from observatory.store.records.searches import Culprit, Searched
from observatory.text.words import several

_HASH = re.compile(r"[0-9a-f]{40}")
_WORK = ("python_calls", "instructions")
"""The quicker one first."""
_SHARE = 1 / 3
"""Of a change of time, as a logarithm, that work must have to explain it."""
_LEAST = 0.02
"""The same where the change of time is not known."""
_WAITING: tuple[State, ...] = ("new", "expired", "open")


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

        Then along the commits that a merge brought, where one is the culprit. Instead of a time its
        work is searched for, where that explains it. Raises as `bisect` does, and SelectionError if
        the ends are commits of no clone.
        """
        ends = wanted.good, wanted.bad
        repo = self.repo
        released = _range(*ends) is not None
        if not released and repo is None:
            raise SelectionError(
                f"{' and '.join(ends)} are not releases: name their clone with --repo"
            )
        if COMPARED[wanted.metric].kind == "noisy":
            try:
                wanted = self._by_work(wanted)
            except OutOfTimeError:
                self.session.say("the time is over; the next search goes on from here", "warning")
                return
        ranges: list[tuple[str, str, tuple[At, At] | None]] = [(*ends, None)]
        if released:
            # Commits say more: the releases are measured again only where none follow.
            confirm = self.confirm and repo is None
            found = self._bisect(wanted, self._between(*ends), confirm=confirm)
            yield found
            if not found.finished:
                return
            ranges = [
                (_tag(one.before), _tag(one.after), (one.before, one.after))
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
            yield self._bisect(wanted, self._between(*ends))
            ranges = [one for one in ranges if one[0] not in missing and one[1] not in missing]
        for good, bad, within in ranges:
            more = ends[0].partition(" ")[2] if released else ""
            texts = [f"{one} {more}".rstrip() for one in self._between(good, bad)]
            found = self._bisect(wanted, texts, within)
            yield found
            for culprit in found.culprits:
                if texts := brought_by(repo, culprit):
                    yield self._bisect(wanted, texts, (culprit.before, culprit.after))

    def _between(self, good: str, bad: str) -> list[str]:
        """The texts of all subjects of a range, both ends included."""
        if (text := _range(good, bad)) is not None:
            return [text]
        assert self.repo is not None
        return [*commits_between(self.repo, good), *commits_between(self.repo, f"{good}..{bad}")]

    def _by_work(self, wanted: Wanted) -> Wanted:
        """The work that explains a time, because few samples tell it; else the time itself."""
        session, cell = self.session, wanted.cell
        subjects = session.subjects.parse_all(
            self._between(wanted.good, wanted.bad), self.extras, self.python
        )
        ends = subjects[0], subjects[-1]
        known = metrics_of(cell.scenario, cell.launch)
        for name in _WORK:
            metric = COMPARED[name]
            if metric not in known or (metric.measure == "work" and counter.find().problem):
                continue
            prober = Prober(session, cell, metric)
            values = prober.recorded(ends)
            for place, subject in enumerate(ends):
                if place not in values:
                    values[place] = prober.value(subject)
            old, new = values[0], values[1]
            if old and new and _explains(new / old, wanted.ratio):
                change = f"{prober.said(old)} to {prober.said(new)}"
                session.say(f"{name} changes from {change}: searching for it, not for the time")
                return replace(wanted, metric=name, instead_of=wanted.metric)
        session.say("the work does not explain it: each subject is timed beside the first one")
        return wanted

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
            self.confirm if confirm is None else confirm, wanted.instead_of,
        ))  # fmt: skip


def _range(good: str, bad: str) -> str | None:
    """The releases between two with equal further requirements, as a text of subjects.

    None: these are not two such releases.
    """
    (first, _, more), (last, _, others) = (end.partition(" ") for end in (good, bad))
    if more != others or not all(map(RELEASE.fullmatch, (first, last))):
        return None
    return f"{first}..{last} {more}".rstrip()


def _tag(release: At) -> str:
    return f"rel-{release.label.partition(' ')[0]}"


def _explains(work: float, time: float | None) -> bool:
    """Whether a change of work explains that of a time; both are ratios."""
    if time is None:
        return abs(log(work)) >= _LEAST
    return log(work) * log(time) > 0 and abs(log(work)) >= _SHARE * abs(log(time))


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
        (one for one in waiting if searchable_series(one) and not over(one)),
        key=cost,
    )
    session.say(f"{several(len(left), 'alert')} to search for")
    for place, alert in enumerate(left):
        if time.monotonic() > session.deadline:
            session.say(f"the time is over before {several(len(left) - place, 'alert')}", "warning")
            return
        if over(alert):
            continue  # by the search for another one
        wanted = wanted_of(alert)
        if searcher.repo is None and _range(wanted.good, wanted.bad) is None:
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
    releases = good is not None and RELEASE.fullmatch(good.label) is not None
    named = any(one.within is not None for one in found)
    return named or not (commits and releases) or not any(one.culprits for one in found)
