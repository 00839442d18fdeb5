"""One count or work of one cell, of one subject after another; what is recorded is not measured."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

from observatory.analyze.growth.families import with_judged_counts
from observatory.analyze.search import Step
from observatory.app.progress import silent
from observatory.app.session import Session
from observatory.app.taking import take_samples
from observatory.benchmarks.catalogue import COMPARED, Cell, Metric
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.errors import ObservatoryError
from observatory.run.environments import NO_PINS, EnvironmentMakingError
from observatory.run.sources import SubjectError
from observatory.run.together import Together
from observatory.store.reading.saved import Saved, read_saved
from observatory.store.records import layout
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from observatory.text.searches import value as in_words

_FEW = 3
"""Samples of a near-exact metric."""


def searchable(metric: str, cell: Cell, noisy: bool = False) -> Metric:
    """The metric, if its values in this cell can be measured. Raises SubjectError otherwise.

    ``noisy``: whether it may be a metric that a few samples do not tell.
    """
    known = COMPARED[metric]
    if known.kind == "noisy" and not noisy:
        raise SubjectError(
            f"{metric} is a time or a size that varies: search for python_calls, llvm_pass_runs or "
            "instructions"
        )
    if problem := cell.problem():
        raise SubjectError(problem)
    return known


class OutOfTimeError(Exception):
    """The time of a search is over; what was measured is recorded."""

    def __init__(self) -> None:
        super().__init__("the time is over; the next search continues from here")


class Again(NamedTuple):
    """The values of two neighbours when they were measured again; None: there is none."""

    earlier: float | None
    later: float | None
    changed: bool
    """Whether the change came back."""


@dataclass
class Prober:
    """Measures one metric of one cell."""

    session: Session
    cell: Cell
    metric: Metric
    taken: int = 0
    """Subjects that were measured."""
    samples: int = 0

    with_ledgers: ClassVar[bool] = False
    """Whether the value of samples depends on their ledgers."""

    @property
    def tasks(self) -> list[Task]:
        """The samples of one subject."""
        rounds = 1 if self.metric.kind == "exact" else max(_FEW, self.metric.all_of)
        asked = {"timing": 0, "counting": 0, self.metric.measure: rounds}
        return plan([self.cell], Rounds(**asked))

    def same(self, one: float, other: float) -> bool:
        """Whether two values are equal, as far as chance lets one tell."""
        return self.metric.same(one, other)

    def said(self, value: float) -> str:
        """A value in words."""
        return in_words(value, self.metric.name)

    def recorded(self, subjects: Sequence[Subject]) -> dict[int, float | None]:
        """The values that need no measurement, by the place of the subject."""
        known = ((place, self._recorded(subject)) for place, subject in enumerate(subjects))
        return {place: value for place, value in known if value is not None}

    def value(self, subject: Subject, pins: Mapping[str, str] = NO_PINS) -> float | None:
        """Measure a subject, and record it. None: it cannot be measured.

        Raises OutOfTimeError if the time of the session is over.
        """
        if time.monotonic() > self.session.deadline:
            raise OutOfTimeError
        try:
            environment = self.session.environment(subject, self.cell.installs, pins)
        except EnvironmentMakingError as error:
            self.session.say(str(error), "warning")
            return None
        taken: list[Sample] = []
        self.taken += 1
        take_samples(self.session, subject, environment, self.tasks, taken.append)
        self.samples += len(taken)
        value = self.median(taken)
        if value is None and time.monotonic() > self.session.deadline:
            raise OutOfTimeError
        return value

    def prepare(self, subject: Subject) -> None:
        """Make the environment of a subject, if it can be made; from another thread than `value`.

        `value` waits for an environment that is being made, and says why one cannot be.
        """
        with contextlib.suppress(ObservatoryError):
            self._quiet.environment(subject, self.cell.installs)

    @cached_property
    def _quiet(self) -> Session:
        return replace(self.session, progress=silent)

    def of_both(self, both: Together, step: Step) -> Again:
        """The second values of two neighbours, those that are recorded or else measured."""
        # In the other order: what the first one leaves behind must not look like the change.
        sides = both.head, both.base
        values = self.recorded([one.subject for one in sides])
        for place, one in enumerate(sides):
            if place not in values:
                values[place] = self.value(one.subject, one.pins)
        later, earlier = values[0], values[1]
        if earlier is None or later is None:
            return Again(earlier, later, changed=False)
        upwards = (later > earlier) == (step.high > step.low)
        return Again(earlier, later, upwards and not self.same(earlier, later))

    def saved(self, subject: Subject) -> Saved | None:
        """What the results of this machine hold of a subject, with its ledgers."""
        path = layout.journal_path(self.session.results, self.session.machine.machine, subject)
        return read_saved(path) if path.exists() else None

    def packages(self, subject: Subject) -> dict[str, str]:
        """What the environment of the recorded value holds."""
        saved = (read_saved(path, ledgers=False) for path in self._journals(subject))
        return next((one.header.versions.packages for one in saved if one is not None), {})

    def _recorded(self, subject: Subject) -> float | None:
        """The value on this machine; a count that no CPU changes may come from any other, too."""
        values = (self.median(one.samples) for one in self.every_saved(subject))
        return next((one for one in values if one is not None), None)

    def every_saved(self, subject: Subject) -> Iterator[Saved]:
        """What is recorded of a subject wherever its values count here."""
        read = (read_saved(path, self.with_ledgers) for path in self._journals(subject))
        return (one for one in read if one is not None)

    def _journals(self, subject: Subject) -> list[Path]:
        results, own = self.session.results, self.session.machine.machine
        names = [path.parent.name for path in layout.journals(results)]
        anywhere = self.metric.kind == "exact" and not self.metric.of_cpu
        others = sorted({*names} - {own}) if anywhere else []
        paths = (layout.journal_path(results, name, subject) for name in (own, *others))
        return [path for path in paths if path.exists()]

    def _sources(self) -> set[str | None]:
        """What counts work here, in the words of samples."""
        if self.metric.measure == "tracing":
            return {self.cell.traced_by}
        source = self.session.counted_with()
        return {self.cell.counted_by(source, steady=steady) for steady in (False, True)}

    def median(self, samples: Sequence[Sample]) -> float | None:
        """The value of samples that were counted as they are here; None: none of them has one.

        Counts of two sources are never compared.
        """
        given = [
            one for one in map(with_judged_counts, samples)
            if one.cell == self.cell and self.metric.name in one.metrics
        ]  # fmt: skip
        if self.metric.sourced:
            here = self._sources()
            given = [one for one in given if one.counted_by in here]
            given = [one for one in given if one.counted_by == given[-1].counted_by]
        values = [one.metrics[self.metric.name] for one in given]
        return self.metric.value_of(values) if values else None
