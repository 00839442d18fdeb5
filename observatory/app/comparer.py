"""Measuring two subjects for a comparison, as far as its verdicts need it."""

from __future__ import annotations

import contextlib
import math
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from benchmarks.catalogue import Cell
from observatory.analyze.comparison.comparing import Setting, compared
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noisy import LOOKS
from observatory.app.progress import Activity
from observatory.app.session import Session
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.run.interleave import SIDES, TRACED, Interleaving, Job, Matrix, SideName
from observatory.run.local import measuring_lock
from observatory.store.journal.models import JournalHeader
from observatory.store.journal.writer import Journal
from observatory.store.records.comparison import Comparison, Side
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from observatory.text.records import comparison_of
from observatory.text.units import seconds
from observatory.text.words import several


@dataclass
class Measured:
    """One side while it is measured."""

    subject: Subject
    environment: Environment
    journal: Journal
    evidence: Evidence = field(default_factory=Evidence)


@dataclass
class Comparer:
    """Measures two sides and compares what there is after each step."""

    session: Session
    sides: dict[SideName, Measured]
    setting: Setting
    matrix: Matrix
    budget: float
    """Seconds of measuring; making environments is not counted."""
    warnings: tuple[str, ...] = ()
    """Sentences that belong beside whatever is concluded."""
    _began: float = field(default_factory=time.monotonic)
    _taken: int = 0

    def run(self) -> Comparison:
        """Count, confirm, trace, time; stop when every cell is decided or the budget is spent."""
        with measuring_lock(self.session.say), self._caches() as interleaving:
            self._began = time.monotonic()
            deadline = self._began + self.budget
            for number, (name, group) in enumerate(self.matrix.groups):
                # The first is counted whatever it takes: it is what most wait for.
                if not interleaving.count(group, deadline if number else math.inf):
                    self._say(f"{name}: the budget ended before everything was counted")
                self._say_exact(name, group)
            self._confirm(interleaving)
            if time.monotonic() < deadline:
                interleaving.repeat(self.matrix.traced, "tracing", TRACED)
            self._time(interleaving, deadline)
        return self.compare()

    def sample(self, pairs: int) -> None:
        """Take tracing samples and `pairs` timed ones of each cell, and judge nothing."""
        with measuring_lock(self.session.say), self._caches() as interleaving:
            self._began = time.monotonic()
            for name, group in self.matrix.groups:
                interleaving.count(group)
                self._say(f"{name}: counted")
            interleaving.repeat(self.matrix.traced, "tracing", TRACED)
            self._say(f"traced: {len(self.matrix.traced)} cells")
            interleaving.time(self.matrix.timed, pairs, float("inf"))

    def compare(self, cells: tuple[Cell, ...] | None = None) -> Comparison:
        """What the samples so far say of some cells; of all by default."""
        found = compared(
            self.setting,
            self.sides["base"].evidence,
            self.sides["head"].evidence,
            self.matrix.counted if cells is None else cells,
            self.matrix.timed if cells is None else (),
        )
        return comparison_of(found, time.monotonic() - self._began, self.warnings)

    def _time(self, interleaving: Interleaving, deadline: float) -> None:
        undecided, taken = list(self.matrix.timed), 0
        for look in LOOKS:
            if not undecided or not interleaving.time(undecided, look - taken, deadline):
                break
            taken = look
            left = {verdict.cell for verdict in self.compare().undecided if verdict.kind == "noisy"}
            undecided = [cell for cell in undecided if cell in left]
            self._say(f"{look} processes each: {several(len(undecided), 'cell')} undecided")
        if undecided:
            spent = time.monotonic() >= deadline
            why = "the budget is spent" if spent else f"after {max(LOOKS)} processes each"
            self._say(f"{why}: {several(len(undecided), 'cell')} undecided")

    def _confirm(self, interleaving: Interleaving) -> None:
        """Count once more where something alarms: a count that is not deterministic shows so."""
        alarmed = {verdict.cell for verdict in self.compare().worse if verdict.kind == "exact"}
        again = [cell for cell in self.matrix.counted if cell in alarmed]
        if again:
            interleaving.repeat(again, "counting", 1)
            self._say(f"counted again, because they got worse: {several(len(again), 'cell')}")

    @contextlib.contextmanager
    def _caches(self) -> Iterator[Interleaving]:
        root = self.session.state / "caches"
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="compare-", dir=root) as made:
            executors = {}
            for name in SIDES:
                caches = Path(made).absolute() / name
                caches.mkdir()
                executors[name] = Executor(
                    self.sides[name].environment, caches, self.session.timeout, self.session.data
                )
            try:
                yield Interleaving(
                    executors, self._notice, self._record, self.session.workers,
                    random.Random(self.setting.seed),  # noqa: S311
                )  # fmt: skip
            finally:
                self.session.progress(Activity(""))

    def _notice(self, job: Job) -> None:
        self.session.progress(
            Activity(
                f"{job.side.upper()} {job.task.cell} {job.task.measure}  "
                f"({self._taken} samples, {self._elapsed()} of {seconds(self.budget)})"
            )
        )

    def _record(self, job: Job, sample: Sample) -> None:
        side = self.sides[job.side]
        side.journal.append(self.session.run, sample)
        side.evidence.add(sample)
        self._taken += 1
        if sample.status not in ("ok", "unavailable"):
            why = sample.failure.message if sample.failure else sample.status
            self._say(f"{job.side.upper()} {job.task.cell} ({job.task.measure}): {why}", "error")

    def _say_exact(self, name: str, group: tuple[Cell, ...]) -> None:
        so_far = self.compare(group)
        exact = [v for v in so_far.verdicts if v.kind == "exact"]
        worse = [v for v in exact if v.conclusion == "worse"]
        better = [v for v in exact if v.conclusion == "better"]
        counts = f"{len(exact)} exact verdicts, {len(worse)} worse, {len(better)} better"
        self._say(f"{name}: {counts}", "error" if worse else "plain")
        for cause in so_far.causes:
            self._say(f"  {cause.sentence}", "error")

    def _say(self, text: str, kind: Literal["plain", "error"] = "plain") -> None:
        self.session.say(f"[{self._elapsed()}] {text}", kind)

    def _elapsed(self) -> str:
        minutes, rest = divmod(round(time.monotonic() - self._began), 60)
        return f"{minutes}:{rest:02}"


def side_of(
    session: Session, subject: Subject, environment: Environment, results: Path
) -> tuple[Measured, Side]:
    """A side to be measured, whose samples are recorded below ``results``."""
    header = JournalHeader(subject=subject, versions=environment.versions, machine=session.machine)
    side = Side(subject=subject, versions=environment.versions, machine=session.machine)
    return Measured(subject, environment, Journal.of(results, header)), side


def discard(results: Path) -> None:
    """Remove a comparison's results where nothing was recorded."""
    if results.is_dir() and not any(results.rglob("*.jsonl")):
        shutil.rmtree(results)
