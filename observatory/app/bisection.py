"""Find the release or commit at which a count or a work changed, and measure it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from observatory.analyze.search import Search, Step
from observatory.app.session import Session, take_samples
from observatory.app.sides import alike
from observatory.benchmarks.catalogue import METRICS, Cell, Metric
from observatory.benchmarks.plan import Rounds, plan
from observatory.run.commits import Range, commits_between
from observatory.run.environments import NO_PINS, EnvironmentMakingError
from observatory.run.git import Git
from observatory.run.sources import SubjectError
from observatory.store.reading.saved import read_saved
from observatory.store.records import layout
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from observatory.text.units import human

_AGAIN = "again"
"""Below the state: what the second measurement has, which shares nothing with the first."""
_FEW = 3
"""Samples of a near-exact metric."""


@dataclass(frozen=True)
class Culprit:
    """A change of the value, and what measuring both of its sides again said."""

    before: Subject
    after: Subject
    low: float
    high: float
    skipped: tuple[str, ...]
    """Subjects in between that could not be measured: each of them may be the culprit, too."""
    again: tuple[float | None, float | None] | None
    """The values of a second measurement, in other environments and in the other order, where both
    sides had the same dependencies. None: it was not asked for."""
    confirmed: bool
    """Whether the second measurement shows the same change."""
    dependencies: dict[str, tuple[str, str]]
    """Packages whose versions differed in the first measurement, beside PyTensor."""
    commits: Range
    """The commits between the two, where they come from a clone."""


@dataclass(frozen=True)
class Bisected:
    """What a search found."""

    cell: Cell
    metric: str
    subjects: tuple[Subject, ...]
    values: dict[int, float | None]
    taken: int
    """Subjects that were measured for it; the values of the others were recorded before."""
    culprits: tuple[Culprit, ...]


def bisect(
    session: Session,
    subjects: Sequence[Subject],
    cell: Cell,
    metric: str,
    clone: Path | None = None,
    confirm: bool = True,
) -> Bisected:
    """Find every change of a metric along subjects, from the first to the last.

    Values that are recorded already are not measured again; each new one is recorded, so that an
    interrupted search goes on where it was. ``clone`` names the commits of each change. Raises
    SubjectError if the metric is a time, or if the first or the last subject has no value.
    """
    how = _checked(metric, cell)
    prober = _Prober(session, cell, how)
    search = Search(len(subjects), prober.same, prober.recorded(subjects))
    while wanted := search.wanted():
        place = wanted[0]
        search.values[place] = value = prober.value(subjects[place])
        session.say(f"{subjects[place].label}: {_told(value, how.unit)}  {_progress(search)}")
    ends = (0, len(subjects) - 1)
    if lost := [subjects[place].label for place in ends if search.values[place] is None]:
        raise SubjectError(f"{' and '.join(lost)} gave no {metric} in {cell}: choose other ends")
    steps = search.steps()
    again = _Prober(replace(session, state=session.state / _AGAIN), cell, how)
    found = [_culprit(one, subjects, prober, again if confirm else None, clone) for one in steps]
    return Bisected(cell, metric, tuple(subjects), search.values, prober.taken, tuple(found))


def _checked(metric: str, cell: Cell) -> Metric:
    known = METRICS[metric]
    if known.kind == "noisy":
        raise SubjectError(
            f"{metric} is a time or a size that varies: search for python_calls or instructions"
        )
    if problem := cell.problem():
        raise SubjectError(problem)
    return known


def _told(value: float | None, unit: str) -> str:
    return "no value" if value is None else human(value, unit)


def _progress(search: Search) -> str:
    known = len(search.values)
    return f"({known} of {search.count} known, {len(search.steps())} changes seen)"


@dataclass
class _Prober:
    """Measures one metric of one cell."""

    session: Session
    cell: Cell
    metric: Metric
    taken: int = 0

    def same(self, one: float, other: float) -> bool:
        if self.metric.kind == "exact":
            return one == other
        return abs(one - other) <= (self.metric.material or self.metric.spread) * max(one, other)

    def recorded(self, subjects: Sequence[Subject]) -> dict[int, float | None]:
        """The values that need no measurement, by the place of the subject."""
        known = ((place, self._recorded(subject)) for place, subject in enumerate(subjects))
        return {place: value for place, value in known if value is not None}

    def value(self, subject: Subject, pins: Mapping[str, str] = NO_PINS) -> float | None:
        """Measure a subject, and record it. None: it cannot be measured."""
        try:
            environment = self.session.environment(subject, self.cell.installs, pins)
        except EnvironmentMakingError as error:
            self.session.say(str(error), "warning")
            return None
        rounds = 1 if self.metric.kind == "exact" else _FEW
        asked = {"timing": 0, "counting": 0, self.metric.measure: rounds}
        tasks = plan([self.cell], Rounds(**asked))
        samples: list[Sample] = []
        self.taken += 1
        take_samples(self.session, subject, environment, tasks, samples.append)
        return self._median(samples)

    def _recorded(self, subject: Subject) -> float | None:
        """The value on this machine; a count may come from any other one, too."""
        for path in self._journals(subject):
            saved = read_saved(path, ledgers=False)
            value = None if saved is None else self._median(saved.samples)
            if value is not None:
                return value
        return None

    def _journals(self, subject: Subject) -> list[Path]:
        results, own = self.session.results, self.session.machine.machine
        names = [path.parent.name for path in layout.journals(results)]
        others = sorted({*names} - {own}) if self.metric.kind == "exact" else []
        paths = (layout.journal_path(results, name, subject) for name in (own, *others))
        return [path for path in paths if path.exists()]

    def _median(self, samples: Sequence[Sample]) -> float | None:
        values = [
            one.metrics[self.metric.name]
            for one in samples
            if one.cell == self.cell and self.metric.name in one.metrics
        ]
        return median(values) if values else None

    def packages(self, subject: Subject) -> dict[str, str]:
        """What the environment of the recorded value holds."""
        saved = (read_saved(path, ledgers=False) for path in self._journals(subject))
        return next((one.header.versions.packages for one in saved if one is not None), {})


def _culprit(
    step: Step, subjects: Sequence[Subject], first: _Prober, second: _Prober | None,
    clone: Path | None,
) -> Culprit:  # fmt: skip
    before, after = subjects[step.before], subjects[step.after]
    again, confirmed = None, False
    if second is not None:
        second.session.say(f"measuring {after.label} and {before.label} again, in new environments")
        scratch = replace(second.session, results=second.session.state / "results")
        second = replace(second, session=scratch)
        both, warning = alike(scratch, before, after)
        if warning:
            scratch.say(warning, "warning")
        # In the other order: what the first one leaves behind must not look like the change.
        later = second.value(both.head.subject, both.head.pins)
        earlier = second.value(both.base.subject, both.base.pins)
        again = earlier, later
        confirmed = None not in again and _same_change(step, again, second)
    mine, theirs = first.packages(before), first.packages(after)
    differing = {
        name: (mine.get(name, "absent"), theirs.get(name, "absent"))
        for name in sorted({*mine, *theirs} - {"pytensor"})
        if mine.get(name) != theirs.get(name)
    }
    commits = Range()
    if clone is not None:
        commits = commits_between(Git(clone), _ref(before), _ref(after))
    skipped = tuple(subjects[place].label for place in step.skipped)
    return Culprit(
        before, after, step.low, step.high, skipped, again, confirmed, differing, commits
    )


def _same_change(step: Step, again: tuple[float | None, float | None], prober: _Prober) -> bool:
    earlier, later = again
    if earlier is None or later is None or prober.same(earlier, later):
        return False
    return (later > earlier) == (step.high > step.low)


def _ref(subject: Subject) -> str:
    """What a clone calls a subject: the tag of a release, or the commit."""
    (first, *_) = subject.requirements
    return f"rel-{first.partition('==')[2]}" if "==" in first else subject.commit
