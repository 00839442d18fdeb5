"""Search for what made a change: along releases, then their commits, then what a merge brought."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

from observatory.app.bisection import Sought, bisect
from observatory.app.crossing import Asked, cross
from observatory.app.probing import OutOfTimeError, Prober
from observatory.app.session import Session
from observatory.app.wanted import Wanted
from observatory.benchmarks.catalogue import COMPARED, OF_WORK, metrics_of
from observatory.errors import SelectionError
from observatory.run.git import Git
from observatory.run.presets import compiles_inside
from observatory.run.sources import commits_between, of_commit
from observatory.store.base.releases import is_release, tag_of
from observatory.store.records import searches
from observatory.store.records.alerts import At
from observatory.store.records.crossings import Crossed
from observatory.store.records.searches import Culprit, Searched

_HASH = re.compile(r"[0-9a-f]{40}")
_SHARE = 1 / 3
"""Of a change of time, as a logarithm, that work must have to explain it."""
_LEAST = 0.02
"""The same where the change of time is not known."""


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

    def search(self, wanted: Wanted) -> Iterator[Searched | Crossed]:
        """The search along releases, then along commits between two of them; or commits alone.

        Then along the commits that a merge brought, where one is the culprit; and where a change
        does not come back with equal dependencies, for the package that made it. Instead of a time
        its work is searched for, where that explains it. Raises as `bisect` does, and
        SelectionError if the ends are commits of no clone.
        """
        ends = wanted.good, wanted.bad
        repo = self.repo
        released = range_of(*ends) is not None
        if not released and repo is None:
            raise SelectionError(
                f"{' and '.join(ends)} are not two releases: name their clone with --repo"
            )
        if COMPARED[wanted.metric].kind == "noisy":
            try:
                wanted = self._by_work(wanted)
            except OutOfTimeError as over:
                self.session.say(str(over), "warning")
                return
        ranges: list[tuple[str, str, tuple[At, At] | None]] = [(*ends, None)]
        if released:
            # Commits say more: the releases are measured again only where none follow.
            confirm = self.confirm and repo is None
            found = yield from self._search(wanted, self._between(*ends), confirm=confirm)
            if not found.finished:
                return
            wanted = replace(wanted, samples=0)  # one record has them
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
            yield from self._search(wanted, self._between(*ends))
            ranges = [one for one in ranges if one[0] not in missing and one[1] not in missing]
        for good, bad, within in ranges:
            more = ends[0].partition(" ")[2] if released else ""
            texts = [f"{one} {more}".rstrip() for one in self._between(good, bad)]
            found = yield from self._search(wanted, texts, within)
            for culprit in found.culprits:
                if texts := brought_by(repo, culprit):
                    yield from self._search(wanted, texts, (culprit.before, culprit.after))

    def _between(self, good: str, bad: str) -> list[str]:
        """The texts of all subjects of a range, both ends included."""
        if (text := range_of(good, bad)) is not None:
            return [text]
        assert self.repo is not None
        (old, more), (new, others) = map(revision, (good, bad))
        if more != others:
            raise SelectionError(f"{good} and {bad} have different requirements")
        found = [*commits_between(self.repo, old), *commits_between(self.repo, f"{old}..{new}")]
        return [f"{one} {more}".rstrip() for one in found]

    def _by_work(self, wanted: Wanted) -> Wanted:
        """The work that explains a time, because few samples tell it; else the time itself."""
        session, cell = self.session, wanted.cell
        subjects = session.subjects.parse_all(
            self._between(wanted.good, wanted.bad), self.extras, self.python
        )
        ends, samples = (subjects[0], subjects[-1]), 0
        known = metrics_of(cell.scenario, cell.launch)
        for name in OF_WORK:  # the quicker one first
            metric = COMPARED[name]
            if metric not in known or (metric.measure == "work" and session.uncounted()):
                continue
            if metric.told_by_numba and not compiles_inside(cell):
                continue  # it compiles nothing
            prober = Prober(session, cell, metric)
            values = prober.recorded(ends)
            for place, subject in enumerate(ends):
                if place not in values:
                    values[place] = prober.value(subject)
            samples += prober.samples
            old, new = values[0], values[1]
            if old and new and _explains(new / old, wanted.ratio):
                change = f"{prober.said(old)} to {prober.said(new)}"
                session.say(f"{name} changes from {change}: searching for it, not for the time")
                return replace(wanted, metric=name, instead_of=wanted.metric, samples=samples)
        session.say("the work does not explain it: each subject is timed beside the first one")
        return replace(wanted, samples=samples)

    def _search(
        self, wanted: Wanted, texts: Sequence[str], within: tuple[At, At] | None = None,
        confirm: bool | None = None,
    ) -> Generator[Searched | Crossed, None, Searched]:  # fmt: skip
        """A search along subjects, and those for the packages that its changes are due to."""
        session = self.session
        subjects = session.subjects.parse_all(texts, self.extras, self.python)
        there = {one.commit for one in subjects}
        known = searches.readable(session.results)
        likely = {
            at.commit for one in known for each in one.culprits for at in (each.before, each.after)
        }
        found = bisect(session, Sought(
            subjects, wanted.cell, wanted.metric, self.repo, within, likely & there,
            self.confirm if confirm is None else confirm, wanted.instead_of, wanted.samples,
            wanted.graphs,
        ))  # fmt: skip
        if wanted.graphs and wanted.supposed and found.finished and not found.culprits:
            session.say("these graphs alone do not show the change: searching with all of them")
            every = replace(wanted, graphs=(), samples=found.samples)
            return (yield from self._search(every, texts, within, confirm))
        yield found
        by_commit = {one.commit: one for one in subjects}
        for culprit in of_packages(found):
            old, new = (by_commit[at.commit] for at in (culprit.before, culprit.after))
            asked = Asked(old, new, wanted.cell, wanted.metric, graphs=wanted.graphs)
            yield cross(session, asked)
        return found


def range_of(good: str, bad: str) -> str | None:
    """The releases between two with equal further requirements, as a text of subjects.

    None: these are not two such releases.
    """
    (first, _, more), (last, _, others) = (end.partition(" ") for end in (good, bad))
    if more != others or not all(map(is_release, (first, last))):
        return None
    return f"{first}..{last} {more}".rstrip()


def revision(end: str) -> tuple[str, str]:
    """What a clone calls an end of a range, and the further requirements of that end.

    >>> revision("3.3.8 numba==0.66.0"), revision("0a1b2c3d")
    (('rel-3.3.8', 'numba==0.66.0'), ('0a1b2c3d', ''))
    """
    word, _, more = end.partition(" ")
    return (tag_of(word) if is_release(word) else word), more


def _tag(release: At) -> str:
    return revision(release.label)[0]


def _explains(work: float, time: float | None) -> bool:
    """Whether a change of work explains that of a time; both are ratios."""
    if time is None:
        return abs(log(work)) >= _LEAST
    return log(work) * log(time) > 0 and abs(log(work)) >= _SHARE * abs(log(time))


def of_packages(found: Searched) -> list[Culprit]:
    """The changes that did not come back with equal dependencies: one of these made each.

    None where the metric is a time, or the backend has packages of its own: these `cross` refuses.
    """
    known = COMPARED.get(found.metric)
    if known is None or known.kind == "noisy" or found.cell.installs:
        return []
    return [one for one in found.culprits if one.certainty == "dependencies"]


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
