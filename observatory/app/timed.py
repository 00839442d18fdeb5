"""Times along a range: each subject beside the first one, until a sequential test decides.

A time of one night says little about that of another one. So both subjects are timed in one run, in
turn, and what counts is the ratio of each round. A value along the range is thus a ratio to the
first subject: 1 of itself.
"""

from __future__ import annotations

import contextlib
import random
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log
from pathlib import Path
from statistics import median

from observatory.analyze.comparison.noisy import DEFAULT_MINIMUM_EFFECT
from observatory.analyze.search import Step
from observatory.analyze.sequential import decided
from observatory.app.probing import Again, OutOfTimeError, Prober
from observatory.app.taking import Journals
from observatory.benchmarks.plan import Task
from observatory.run.environments import NO_PINS, Environment, EnvironmentMakingError
from observatory.run.filled import filled_caches
from observatory.run.interleave import SIDES, Interleaving, Job, SideName
from observatory.run.together import Together
from observatory.store.journal.models import SEARCH, JournalHeader, new_run, plan_of
from observatory.store.journal.reader import read_journal
from observatory.store.records import layout
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject

_ENDS = 12
"""Rounds of the first and the last subject before their ratio is looked at: if all are on one side,
chance does that once in 2,048 times."""
_CHANCE = 0.001
"""Of a ratio that differs from 1, at each of the two looks."""
_MOST = 31
"""Rounds after which a subject is near neither end of the range."""
_SURE = 25
"""Of `_MOST` rounds: chance puts so many on one side once in 2,000 times."""
_LEFT = 1 / 3
"""Of the change of the range, as a logarithm: smaller changes are not told apart from chance."""
_APART = 1 / 4
_FAILURES = 3


@dataclass
class TimedProber(Prober):
    """Measures the ratio of a noisy metric to that of one subject."""

    first: Subject | None = None
    """The subject that all others are measured beside."""
    last: Subject | None = None
    """The subject at the other end of the range: its ratio tells what the sides are."""
    pins: Mapping[str, str] = field(default_factory=dict)
    """Versions of the first subject's dependencies."""
    ratio: float | None = None
    """Of the last subject; None as long as it is not known to differ from 1."""
    _caches: Path | None = field(default=None, repr=False)

    def same(self, one: float, other: float) -> bool:
        """Whether two ratios are those of one level, as far as the change of the range tells."""
        return self.ratio is None or abs(self._level(one) - self._level(other)) < _APART

    def recorded(self, subjects: Sequence[Subject]) -> dict[int, float | None]:
        """The ratios that an earlier search has measured as often as it takes."""
        found: dict[int, float | None] = {}
        known = {subject.commit: self._rounds(subject) for subject in subjects[1:]}
        self._look_at_the_ends(known.get(subjects[-1].commit, []))
        for place, subject in enumerate(subjects[1:], 1):
            rounds = known[subject.commit]
            if self._over(subject, rounds):
                found[place] = self._value(subject, rounds)
        return {0: 1.0, **found}

    def value(self, subject: Subject, pins: Mapping[str, str] = NO_PINS) -> float | None:
        """Measure a subject beside the first one, and record each round.

        None: it cannot be measured, or is on neither side. Raises OutOfTimeError if the time of the
        session is over.
        """
        if subject == self.first:
            return 1.0
        rounds = self._rounds(subject)
        self.taken += 1
        try:
            with self._interleaving(subject, pins) as take:
                failures = 0
                while not self._over(subject, rounds):
                    if time.monotonic() > self.session.deadline:
                        raise OutOfTimeError
                    taken = take()
                    rounds += [] if taken is None else [taken]
                    failures += taken is None
                    if failures == _FAILURES:
                        return None
                    if subject == self.last:
                        self._look_at_the_ends(rounds)
        except EnvironmentMakingError as error:
            self.session.say(str(error), "warning")
            return None
        return self._value(subject, rounds)

    def of_both(self, both: Together, step: Step) -> Again:
        """The second values of two neighbours, measured beside each other, and whether they differ.

        They do if the ratio differs from 1 by more than chance, as that of two ends has to.
        """
        own = replace(
            self, first=both.base.subject, last=both.head.subject, pins=both.base.pins, ratio=None,
            taken=0, samples=0, _caches=None,
        )  # fmt: skip
        found = own.value(both.head.subject, both.head.pins)
        self.samples += own.samples
        change = log(step.high / step.low)
        changed = own.ratio is not None and log(own.ratio) / change > _LEFT
        return Again(step.low, None if found is None else step.low * found, changed)

    def _part(self, value: float) -> float:
        """How much of the change a ratio has: 0 of the first subject's, 1 of the last one's."""
        assert self.ratio is not None
        return log(value) / log(self.ratio)

    def _level(self, value: float) -> float:
        """The part, without what is chance near the two ends."""
        part = self._part(value)
        if part < _LEFT:
            return 0.0
        return 1.0 if part > 1 - _LEFT else part

    def _over(self, subject: Subject, rounds: Sequence[float]) -> bool:
        """Whether a subject was measured as often as it takes."""
        if len(rounds) >= _MOST:
            return True
        return self.ratio is not None and (subject == self.last or self._side(rounds) is not None)

    def _side(self, rounds: Sequence[float]) -> bool | None:
        """Whether a subject has changed; None: it is near neither end, or that is not known yet."""
        side = decided(self._part(exp(one)) > 0.5 for one in rounds)
        at = self._level(exp(median(rounds))) if rounds else 0.5
        return side if at == side else None

    def _value(self, subject: Subject, rounds: Sequence[float]) -> float | None:
        if not rounds:
            return None
        if subject != self.last and (
            self.ratio is None or (self._side(rounds) is None and not self._between(rounds))
        ):
            return None
        return exp(median(rounds))

    def _between(self, rounds: Sequence[float]) -> bool:
        """Whether nearly all rounds are on the inner side of both ends: a level of its own."""
        parts = [self._part(exp(one)) for one in rounds]
        inner = min(sum(part > 0 for part in parts), sum(part < 1 for part in parts))
        return inner >= _SURE and 0.0 < self._level(exp(median(rounds))) < 1.0

    def _look_at_the_ends(self, rounds: Sequence[float]) -> None:
        """Learn the ratio of the last subject, if it differs from 1 by more than chance."""
        if self.ratio is not None or len(rounds) not in (_ENDS, _MOST):
            return  # who looks after each round finds what chance makes
        from scipy.stats import wilcoxon  # it takes a second to import

        found = median(rounds)
        smallest = log(1 + (self.metric.material or DEFAULT_MINIMUM_EFFECT))
        if abs(found) >= smallest and wilcoxon(rounds).pvalue < _CHANCE:
            self.ratio = exp(found)

    def _rounds(self, subject: Subject) -> list[float]:
        """The logarithms of the ratios that are recorded, in the order in which they were taken."""
        if self.first is None:
            return []
        mine, theirs = self._recorded_runs(subject), self._recorded_runs(self.first)
        return [
            log(new / old)
            for run in sorted(mine.keys() & theirs.keys())
            for new, old in zip(mine[run], theirs[run], strict=False)
        ]

    def _recorded_runs(self, subject: Subject) -> dict[str, list[float]]:
        """By run of a search, the values of this cell; of this machine alone."""
        where = layout.journal_path(self.session.results, self.session.machine.machine, subject)
        found: dict[str, list[float]] = {}
        for entry in read_journal(where).entries if where.exists() else ():
            value = self._metric_of(entry.sample)
            if value is not None and plan_of(entry.run) == SEARCH:
                found.setdefault(entry.run, []).append(value)
        return found

    def _metric_of(self, sample: Sample) -> float | None:
        if sample.cell != self.cell or sample.measure != self.metric.measure:
            return None
        value = sample.metrics.get(self.metric.name)
        return float(value) if value else None

    @contextlib.contextmanager
    def _interleaving(
        self, subject: Subject, pins: Mapping[str, str]
    ) -> Iterator[Callable[[], float | None]]:
        """What takes a round: the logarithm of its ratio, or None if a sample failed."""
        assert self.first is not None
        added = self.cell.installs
        environments: dict[SideName, Environment] = {
            "base": self.session.environment(self.first, added, self.pins),
            "head": self.session.environment(subject, added, pins),
        }
        subjects = dict(zip(SIDES, (self.first, subject), strict=True))
        journals = {
            side: Journals(self.session.results, self._header(subjects[side], one))
            for side, one in environments.items()
        }
        run, taken = new_run(SEARCH), dict[SideName, tuple[Task, Sample]]()

        def ended(job: Job, sample: Sample) -> None:
            self.samples += 1
            taken[job.side] = job.task, sample

        def take() -> float | None:
            taken.clear()
            interleaving.time([self.cell], 1, self.session.deadline)
            values = {side: self._metric_of(sample) for side, (_, sample) in taken.items()}
            old, new = values.get("base"), values.get("head")
            if old is None or new is None:
                return None
            for side, one in taken.items():  # a round is recorded whole or not at all
                journals[side].append(run, *one, executors[side])
            return log(new / old)

        fleet = self.session.fleet
        placing = None if fleet is None else fleet.placing()  # one: pairs are never split
        with self.session.lock(), contextlib.ExitStack() as held:
            executors = {
                side: held.enter_context(self.session.taking(
                    None, subjects[side], one, self._caches_of(one), added=added,
                    pins=self.pins if side == "base" else pins, placing=placing,
                ))
                for side, one in environments.items()
            }  # fmt: skip
            interleaving = Interleaving(
                executors, lambda _: None, ended, self.session.workers,
                random.Random(run),  # noqa: S311
            )  # fmt: skip
            interleaving.fill([self.cell])
            yield take

    def _header(self, subject: Subject, environment: Environment) -> JournalHeader:
        return JournalHeader(
            subject=subject, versions=environment.versions, machine=self.session.machine
        )

    def _caches_of(self, environment: Environment) -> Path:
        """The directory of caches that the cell starts from; it lasts as long as the search."""
        if self._caches is None:
            held = contextlib.ExitStack()
            self._caches = held.enter_context(filled_caches(self.session.state, "bisect"))
            weakref.finalize(self, held.close)
        return self._caches / environment.key
