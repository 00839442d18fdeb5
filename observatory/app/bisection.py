"""Find the release or commit at which a metric changed, and measure it again."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from observatory import tool_version
from observatory.analyze.comparison.comparing import pairs_of, who_of
from observatory.analyze.search import Search, Step
from observatory.app.ahead import Ahead
from observatory.app.lost import prober_of
from observatory.app.probing import Again, OutOfTimeError, Prober
from observatory.app.session import Session
from observatory.app.sides import alike
from observatory.app.unwritten import write_left
from observatory.benchmarks.catalogue import Cell
from observatory.run.commits import commits_between
from observatory.run.git import Git
from observatory.run.sources import SubjectError
from observatory.store.base.releases import tag_of
from observatory.store.records import searches
from observatory.store.records.alerts import At, at_of, cut
from observatory.store.records.comparison import Cause
from observatory.store.records.searches import (
    BlamedCommit,
    Certainty,
    Culprit,
    Probe,
    Searched,
)
from observatory.store.records.subject import Subject
from observatory.text.records import comparison_of
from observatory.text.words import several

_AGAIN = "again"
"""Below the state: what the second measurement has, which shares nothing with the first."""
_TEXT, _FILES = 4000, 2000


@dataclass(frozen=True)
class Sought:
    """What is looked for, and among which subjects."""

    subjects: Sequence[Subject]
    """From the first to the last, one beside the other."""
    cell: Cell
    metric: str
    clone: Path | None = None
    """Names the commits of each change."""
    within: tuple[At, At] | None = None
    """The releases between whose tags the commits lie."""
    first: Collection[str] = ()
    """Commits that are tried before others: culprits of what else changed in this range."""
    confirm: bool = True
    """Whether both sides of each change are measured again."""
    instead_of: str | None = None
    """The time whose work this metric is."""
    samples: int = 0
    """That were taken for it before the search begins."""
    graphs: Sequence[str] = ()
    """The only graphs that are built and counted; empty: all of the model."""


def bisect(session: Session, sought: Sought) -> Searched:
    """Find every change of a metric along subjects, from the first to the last, and record it.

    Values that are recorded already are not measured again; each new one is recorded, so that an
    interrupted search goes on where it was. Where the time of the session is over, the record says
    so, and a later search goes on. While a subject is measured, the environment of the next one is
    made. Raises SubjectError if the cell cannot be measured, or if the first or the last subject
    has no value.
    """
    subjects, began = sought.subjects, time.monotonic()
    for line in write_left(session.state):
        session.say(line, "warning")
    ends = subjects[0], subjects[-1]
    narrowed = session.narrowed(sought.graphs)
    prober = prober_of(narrowed, sought.cell, sought.metric, ends, noisy=True)
    tried_first = [i for i, one in enumerate(subjects) if one.commit in sought.first]
    search = Search(len(subjects), prober.same, prober.recorded(subjects), tried_first)
    session.say(
        f"{sought.metric} of {sought.cell}, {subjects[0].label} to {subjects[-1].label}: "
        f"{several(len(subjects), 'subject')}, of which {len(search.values)} have a value already"
    )
    again = replace(prober, session=replace(narrowed, state=session.state / _AGAIN))
    culprits: dict[tuple[int, int], Culprit] = {}
    finished = True
    ahead = Ahead(prober.prepare)
    try:
        while (wanted := _next(search, culprits)) is not None:
            if isinstance(wanted, Step):
                made = _culprit(wanted, sought, prober, again if sought.confirm else None)
                culprits[wanted.before, wanted.after] = made
                search.values |= _corrected(wanted, made, prober)
                continue
            if prober.metric.kind != "noisy":  # whose times a build beside them would disturb
                ahead.begin(subjects[place] for place in search.after(wanted))
            search.values[wanted] = value = prober.value(subjects[wanted])
            told = "no value" if value is None else prober.said(value)
            session.say(f"{subjects[wanted].label}: {told}  {_progress(search)}")
        places = (0, len(subjects) - 1)
        if lost := [subjects[place].label for place in places if search.values[place] is None]:
            raise SubjectError(
                f"{' and '.join(lost)} gave no {sought.metric} in {sought.cell}: name other "
                "subjects for GOOD and BAD"
            )
    except OutOfTimeError as over:
        finished = False
        session.say(str(over), "warning")
    finally:
        ahead.end()
    found = Searched(
        observatory=tool_version(), machine=session.machine.machine, cell=sought.cell,
        metric=sought.metric, instead_of=sought.instead_of, graphs=list(narrowed.only),
        good=at_of(subjects[0]), bad=at_of(subjects[-1]), within=sought.within,
        subjects=len(subjects),
        probes=[
            Probe(at=at_of(subjects[place]), value=value)
            for place, value in sorted(search.values.items())
        ],
        measured=prober.taken, samples=sought.samples + prober.samples + again.samples,
        seconds=round(time.monotonic() - began, 1), finished=finished,
        taken_at=datetime.now(UTC),
        culprits=[culprits[key] for key in sorted(culprits)],
    )  # fmt: skip
    searches.save(session.results, found)
    return found


def _next(search: Search, culprits: Mapping[tuple[int, int], Culprit]) -> int | Step | None:
    """The place to measure next, or the change to measure again; None: everything is known."""
    if wanted := search.wanted():
        return wanted[0]
    return next((one for one in search.steps() if (one.before, one.after) not in culprits), None)


def _corrected(step: Step, culprit: Culprit, prober: Prober) -> dict[int, float | None]:
    """Other values of a change that was not reproduced: one of the first two was an accident.

    The search goes on with them. Where dependencies differed, the first values stay: they are what
    these dependencies give. So do ratios of times: two neighbours beside each other do not tell on
    which side of a change they are.
    """
    accident = culprit.certainty == "not reproduced" and prober.metric.kind != "noisy"
    if not accident or culprit.again is None:
        return {}
    places = (step.before, step.low, culprit.again[0]), (step.after, step.high, culprit.again[1])
    return {
        place: second
        for place, first, second in places
        if second is not None and not prober.same(first, second)
    }


def _progress(search: Search) -> str:
    known = len(search.values)
    return f"({known} of {search.count} known, {several(len(search.steps()), 'change')} seen)"


def _culprit(step: Step, sought: Sought, first: Prober, second: Prober | None) -> Culprit:
    before, after = sought.subjects[step.before], sought.subjects[step.after]
    mine, theirs = first.packages(before), first.packages(after)
    differing = {
        name: (mine.get(name, "absent"), theirs.get(name, "absent"))
        for name in sorted({*mine, *theirs} - {"pytensor"})
        if mine.get(name) != theirs.get(name)
    }
    again: Again | None = None
    causes: list[Cause] = []
    if second is not None:
        again, causes = _measured_again(before, after, step, second)
    return Culprit(
        before=at_of(before), after=at_of(after), low=step.low, high=step.high,
        certainty=_certainty(again, bool(differing)), again=again and again[:2],
        skipped=[cut(sought.subjects[place].label) for place in step.skipped],
        dependencies=differing, commits=list(_commits(sought.clone, before, after)),
        causes=causes,
    )  # fmt: skip


def _measured_again(
    before: Subject, after: Subject, step: Step, prober: Prober
) -> tuple[Again, list[Cause]]:
    """Both values, measured in new environments alike in their dependencies; and the causes.

    What an interrupted measurement of the same two has recorded is kept.
    """
    prober.session.say(f"measuring {after.label} and {before.label} again, in new environments")
    pair = f"{before.commit[:12]}-{after.commit[:12]}"
    place = prober.session.state / "results" / pair / prober.session.narrowing
    scratch = replace(prober.session, results=place)
    both, warning = alike(scratch, before, after)
    if warning:
        scratch.say(warning, "warning")
    own = replace(prober, session=scratch, taken=0, samples=0)
    values = own.of_both(both, step)
    prober.samples += own.samples
    sides = [own.saved(both.base.subject), own.saved(both.head.subject)]
    known = [one for one in sides if one is not None]
    causes: list[Cause] = []
    if len(known) == len(sides):
        wanted = [(who_of(known[0].header), who_of(known[1].header))]
        for *_, compared in pairs_of(known, wanted, {}, tool_version()):
            record = comparison_of(compared)
            told = {one.cause for one in record.worse}
            causes = [one for one in record.causes if one.id in told]
    return values, causes


def _certainty(again: Again | None, differing: bool) -> Certainty:
    if again is None:
        return "not measured again"
    if again.earlier is None or again.later is None:
        return "half measured again"
    if again.changed:
        return "confirmed"
    return "dependencies" if differing else "not reproduced"


def _commits(clone: Path | None, before: Subject, after: Subject) -> Iterator[BlamedCommit]:
    if clone is None:
        return
    for one in commits_between(Git(clone), _ref(before), _ref(after)).commits:
        yield BlamedCommit(
            hash=one.hash, author=one.author[:_TEXT], date=one.date, title=one.title[:_TEXT],
            pull_request=one.pull_request, files=[name[:_TEXT] for name in one.files[:_FILES]],
        )  # fmt: skip


def _ref(subject: Subject) -> str:
    """What a clone calls a subject: the tag of a release, or the commit."""
    (first, *_) = subject.requirements
    return tag_of(first.partition("==")[2]) if "==" in first else subject.commit
