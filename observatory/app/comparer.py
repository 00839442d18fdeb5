"""Measure two subjects for a comparison until its verdicts are decided."""

from __future__ import annotations

import contextlib
import math
import random
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from packaging.version import Version

from observatory.analyze.comparison.comparing import Setting, compared
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noisy import LOOKS
from observatory.analyze.comparison.rules import LEARNED
from observatory.app.progress import Update, failure_of
from observatory.app.session import Session
from observatory.app.taking import Journals
from observatory.app.telling import Step
from observatory.app.work_counts import WorkCounts
from observatory.benchmarks.catalogue import OF_WORK, Cell
from observatory.run import fitness
from observatory.run.environments import NO_PINS, Environment
from observatory.run.filled import filled_caches
from observatory.run.interleave import (
    SIDES,
    TRACED,
    WORK,
    Groups,
    Interleaving,
    Job,
    Matrix,
    SideName,
)
from observatory.run.schedule import TakesSamples
from observatory.store.journal.models import JournalHeader
from observatory.store.records.comparison import Comparison, Side
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from observatory.text.records import comparison_of
from observatory.text.units import seconds
from observatory.text.words import several

_TRACED_SINCE = Version("3.12")
"""The first Python with `sys.monitoring`, which counts its calls."""
_TRACED_NOTHING = "the budget ended before Python calls were counted"


@dataclass
class Measured:
    """One side while it is measured."""

    environment: Environment
    journals: Journals
    added: tuple[str, ...] = ()
    pins: Mapping[str, str] = field(default_factory=dict)
    """What its environment holds beside the subject, and which versions of dependencies."""
    evidence: Evidence = field(default_factory=Evidence)


@dataclass
class Comparer:
    """Measures two sides, and compares them after each step."""

    session: Session
    sides: dict[SideName, Measured]
    setting: Setting
    matrix: Matrix
    budget: float
    """Seconds of measuring, without making environments."""
    warnings: tuple[str, ...] = ()
    """Sentences that the comparison carries, whatever its verdicts are."""
    _began: float = field(default_factory=time.monotonic)
    _step: Step = field(default_factory=Step)
    _executors: dict[SideName, TakesSamples] = field(default_factory=dict)
    _uncounted: tuple[str, ...] = ()
    """What the budget left out of the pass `counting`, as sentences."""

    def __post_init__(self) -> None:
        sides = (self.setting.base, self.setting.head)
        workers = self.session.workers
        if self.session.fleet is None:
            workers = fitness.at_a_time(workers, fitness.look(timed=False))
        self._workers_of_work = workers
        self._works = WorkCounts(
            evidence={name: side.evidence for name, side in self.sides.items()},
            setting=self.setting,
            at_once=max(1, workers // len(SIDES)),
            traceable=all(Version(one.versions.python) >= _TRACED_SINCE for one in sides),
            say=self._say,
        )

    def run(self) -> Comparison:
        """Count, confirm, trace, time until every cell is decided or the budget is spent.

        The first group of cells matters most: the budget does not limit it. Work, which decides
        builds and calls, comes next.
        """
        with self.session.lock(), self._caches() as interleaving:
            self._began = time.monotonic()
            deadline = self._began + self.budget
            self._count(interleaving, self.matrix.groups[:1], math.inf)
            complete = self._work(interleaving, deadline)
            complete &= self._count(interleaving, self.matrix.groups[1:], deadline)
            self._confirm(interleaving)
            within = time.monotonic() < deadline
            if within and complete:
                self._trace(interleaving, self.matrix.traced, math.inf)
            elif within:  # what is left of the budget is little, and the main part needs little
                self._trace(interleaving, (), deadline)
            if self.matrix.traced and not (within and complete):
                self._uncounted += (f"{_TRACED_NOTHING}; a larger --budget counts them",)
            self._time(interleaving, deadline)
        return self.compare()

    def sample(self, pairs: int) -> None:
        """Take samples of each cell without judging them: ``pairs`` of times, LEARNED of work."""
        with self.session.lock(), self._caches() as interleaving:
            self._began = time.monotonic()
            for name, group in self.matrix.groups:
                interleaving.count(group)
                self._say(f"{name}: counted")
            counted = range(LEARNED // 2)
            interleaving.repeat(self.matrix.traced, "tracing", len(counted))
            self._say(f"traced: {len(self.matrix.traced)} cells")
            if self.matrix.worked:
                interleaving.work(self.matrix.worked, WORK, counted, math.inf)
                self._say(f"work counted: {len(self.matrix.worked)} cells")
            interleaving.time(self.matrix.timed, pairs, float("inf"))

    def compare(self, cells: tuple[Cell, ...] | None = None) -> Comparison:
        """Compare some cells, by default all, by the samples taken so far."""
        found = compared(
            self.setting,
            self.sides["base"].evidence,
            self.sides["head"].evidence,
            self.matrix.cells if cells is None else cells,
            self.matrix.timed if cells is None else (),
        )
        found = replace(
            found,
            verdicts=list(map(self._works.confirmed, found.verdicts)),
            missing=[*found.missing, *self._works.left_out(() if cells else self.matrix.worked)],
        )
        warnings = (*self.warnings, *self._uncounted, *self._works.warnings)
        return comparison_of(found, time.monotonic() - self._began, warnings)

    def _count(self, interleaving: Interleaving, groups: Groups, deadline: float) -> bool:
        """Count groups of cells; whether the budget was enough for all."""
        left = []
        for name, group in groups:
            if not interleaving.count(group, deadline):
                left.append(name)
                self._say(f"{name}: the budget ended before everything was counted")
            self._say_exact(name, group)
        if left:
            ended = f"the budget ended before everything was counted ({'; '.join(left)})"
            self._uncounted += (f"{ended}; a larger --budget counts it",)
        return not left

    def _work(self, interleaving: Interleaving, deadline: float) -> bool:
        """Count the work of its cells; whether the budget was enough for all."""
        if not self.matrix.worked or self._works.take(interleaving, self.matrix.worked, deadline):
            return True
        self._say("the budget ended before all work was counted", "error")
        return False

    def _trace(self, interleaving: Interleaving, asked: Sequence[Cell], deadline: float) -> None:
        """Trace what was asked for, and the cells that do more work: to name the main part."""
        worse = {one.cell for one in self.compare().worse if one.metric in OF_WORK}
        more = [
            cell for cell in self.matrix.worked
            if cell in worse - {*asked} and self._traces(cell) < TRACED
        ]  # fmt: skip
        if more:
            self._say(f"traced, because their work grew: {several(len(more), 'cell')}")
        wanted = (*asked, *more)
        for number in range(TRACED):
            if cells := [cell for cell in wanted if self._traces(cell) <= number]:
                interleaving.work(cells, "tracing", range(number, number + 1), deadline)

    def _traces(self, cell: Cell) -> int:
        return min(len(side.evidence.taken(cell, "tracing")) for side in self.sides.values())

    def _time(self, interleaving: Interleaving, deadline: float) -> None:
        undecided, taken = list(self.matrix.timed), 0
        for look in LOOKS:
            if not undecided or not interleaving.time(undecided, look - taken, deadline):
                break
            taken = look
            found = self.compare()
            left = {verdict.cell for verdict in found.undecided if verdict.kind == "noisy"}
            undecided = [cell for cell in undecided if cell in left]
            worse = sum(verdict.kind == "noisy" for verdict in found.worse)
            cells = several(len(undecided), "cell")
            self._say(f"{look} processes each: {several(worse, 'time')} worse, {cells} undecided")
        if undecided:
            spent = time.monotonic() >= deadline
            why = "the budget is spent" if spent else f"after {max(LOOKS)} processes each"
            self._say(f"{why}: {several(len(undecided), 'cell')} undecided")

    def _confirm(self, interleaving: Interleaving) -> None:
        """Count again where a count got worse, to find counts that are not deterministic."""
        alarmed = {verdict.cell for verdict in self.compare().worse if verdict.kind == "exact"}
        again = [cell for cell in self.matrix.counted if cell in alarmed]
        if again:
            interleaving.repeat(again, "counting", 1)
            self._say(f"counted again, because they got worse: {several(len(again), 'cell')}")

    @contextlib.contextmanager
    def _caches(self) -> Iterator[Interleaving]:
        fleet = self.session.fleet
        # One for both sides: a pair is never split over machines.
        placing = None if fleet is None else fleet.placing()
        with ExitStack() as held:
            made = held.enter_context(filled_caches(self.session.state, "compare"))
            for name, side in self.sides.items():
                self._executors[name] = held.enter_context(self.session.taking(
                    None, side.journals.header.subject, side.environment, made / name,
                    added=side.added, pins=side.pins, placing=placing,
                ))  # fmt: skip
            try:
                yield Interleaving(
                    self._executors, self._notice, self._record, self.session.workers,
                    random.Random(self.setting.seed),  # noqa: S311
                    self._workers_of_work, self._step.begin,
                )  # fmt: skip
            finally:
                self.session.progress(Update("", "activity"))
                if fleet is not None:
                    for name in self.sides:
                        fleet.tidy(made / name)

    def _notice(self, job: Job) -> None:
        self._step.began(job.task, job.side)
        # What matters least comes last: a narrow terminal cuts it off.
        what = f"{job.side.upper()} {job.task.cell} {job.task.measure}"
        spent = f"{self._elapsed()} of {seconds(self.budget)}"
        text = f"{self._step.time_left()} in this step: {what}  ({spent})"
        self.session.progress(Update(text, "activity", self._step.done, self._step.total))

    def _record(self, job: Job, sample: Sample) -> None:
        side = self.sides[job.side]
        executor = self._executors[job.side]
        sample = side.journals.append(self.session.run, job.task, sample, executor)
        side.evidence.add(sample)
        self._step.ended(job.task, job.side, sample)
        if failure := failure_of(sample):
            name = f"{job.side.upper()} {job.task.cell} ({job.task.measure})"
            self._say(f"{name}: {failure}", "error")

    def _say_exact(self, name: str, group: tuple[Cell, ...]) -> None:
        so_far = self.compare(group)
        exact = [v for v in so_far.verdicts if v.kind == "exact"]
        worse, better = (sum(v.conclusion == one for v in exact) for one in ("worse", "better"))
        counts = f"{len(exact)} exact verdicts, {worse} worse, {better} better"
        self._say(f"{name}: {counts}", "error" if worse else "plain")
        for cause in so_far.causes:
            self._say(f"  {cause.sentence}", "error")

    def _say(self, text: str, kind: Literal["plain", "error"] = "plain") -> None:
        self.session.say(f"[{self._elapsed()}] {text}", kind)

    def _elapsed(self) -> str:
        minutes, rest = divmod(round(time.monotonic() - self._began), 60)
        return f"{minutes}:{rest:02}"


def side_of(
    session: Session,
    subject: Subject,
    results: Path,
    chosen: Iterable[Cell],
    pins: Mapping[str, str] = NO_PINS,
) -> tuple[Measured, Side]:
    """A side to be measured, whose samples are recorded below ``results``; and its record.

    Its environment holds what the backends of all chosen cells need, and dependencies of the
    versions ``pins``.
    """
    added = tuple(sorted({one for cell in chosen for one in cell.installs}))
    environment = session.environment(subject, added, pins)
    side = Side(subject=subject, versions=environment.versions, machine=session.machine)
    journals = Journals(results, JournalHeader(**dict(side)))
    return Measured(environment, journals, added, pins), side


def discard(results: Path) -> None:
    """Remove the directory of a comparison in which nothing was recorded."""
    if results.is_dir() and not any(results.rglob("*.jsonl")):
        shutil.rmtree(results)
