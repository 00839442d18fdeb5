"""Measuring one subject: its environment, its plan, its journal, its result file."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import benchmarks
from benchmarks.plan import Task
from observatory.app.progress import (
    Message,
    Progress,
    RunBegins,
    RunEnds,
    SampleBegins,
    SampleEnds,
    silent,
)
from observatory.errors import Exit
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.run.local import measuring_lock
from observatory.run.schedule import carry_out, remaining
from observatory.store.asv.files import project, write_benchmarks
from observatory.store.base.problems import Problem
from observatory.store.journal.models import JournalHeader, plan_of
from observatory.store.journal.values import comparable
from observatory.store.journal.writer import Journal
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject


@dataclass(frozen=True)
class Session:
    """What all subjects of one command share."""

    results: Path
    state: Path
    """Where environments and filled caches live: `.observatory/`."""
    machine: Machine
    timeout: float
    """Seconds that one measured process may take."""
    run: str
    """Of `new_run`. ``resume`` goes on with the last one of the same plan instead."""
    workers: int = field(default_factory=lambda: min(2, os.cpu_count() or 1))
    """Counting samples taken side by side; timed ones are always alone."""
    data: Path | None = None
    resume: bool = False
    keep_caches: bool = False
    """Whether a later command goes on with other passes of the same run."""
    progress: Progress = silent

    def say(self, text: str, kind: Literal["plain", "warning", "error"] = "plain") -> None:
        """Report a message."""
        self.progress(Message(text, kind))


@dataclass
class Tally:
    """How the samples of a run ended, in numbers of samples."""

    taken: int = 0
    failed: int = 0
    wrong: int = 0
    unavailable: int = 0
    without_environment: int = 0
    """Subjects, not samples."""

    def add(self, sample: Sample) -> None:
        """Count one sample."""
        self.taken += 1
        self.failed += sample.status not in ("ok", "unavailable")
        self.unavailable += sample.status == "unavailable"
        self.wrong += bool(sample.metrics.get("wrong_results", 0))

    def __iadd__(self, other: Tally) -> Tally:
        self.taken += other.taken
        self.failed += other.failed
        self.wrong += other.wrong
        self.unavailable += other.unavailable
        self.without_environment += other.without_environment
        return self

    @property
    def exit_code(self) -> Exit:
        """The status of a command that took these samples. Wrong numbers outrank everything."""
        if self.wrong:
            return Exit.WRONG_RESULTS
        if self.failed:
            return Exit.SAMPLE_FAILED
        return Exit.ENVIRONMENT if self.without_environment else Exit.OK

    def sentence(self) -> str:
        """What happened, for people."""
        parts = [f"{self.taken} samples"]
        if self.wrong:
            parts.append(f"{self.wrong} RETURNED WRONG RESULTS")
        if self.failed:
            parts.append(f"{self.failed} FAILED (the journal says how)")
        if self.unavailable:
            parts.append(f"{self.unavailable} not available in the subject")
        if self.without_environment:
            parts.append(f"{self.without_environment} SUBJECTS WITHOUT AN ENVIRONMENT")
        return ", ".join(parts) + "."


def take_samples(
    session: Session,
    subject: Subject,
    environment: Environment,
    tasks: Sequence[Task],
    seen: Callable[[Sample], None] = lambda _: None,
) -> Tally:
    """Take the samples of a plan, each recorded before the next; then renew the result file.

    Returns how the samples ended. The result file is renewed even if the run is interrupted, so
    that everything recorded is shown. ``seen`` is called with each sample that was recorded.
    """
    header = JournalHeader(subject=subject, versions=environment.versions, machine=session.machine)
    journal = Journal.of(session.results, header)
    run, taken = _where_it_stopped(session, journal, header)
    # A plan's caches belong to one environment and CPU: no other numba, and no machine code for
    # another CPU, may be what a warm build starts from.
    cpu = hashlib.blake2b(session.machine.cpu.encode(), digest_size=4).hexdigest()
    caches = session.state / "caches" / run / f"{environment.key}-{cpu}"
    left = remaining(tasks, taken, caches)
    tally = Tally()
    for sample in taken:  # of the run that goes on: what was wrong then is wrong
        tally.add(sample)
    if left:
        caches.mkdir(parents=True, exist_ok=True)
        executor = Executor(environment, caches.absolute(), session.timeout, session.data)

        begun: dict[int, float] = {}

        def began(task: Task) -> None:
            begun[id(task)] = time.monotonic()
            session.progress(SampleBegins(task))

        def ended(task: Task, sample: Sample) -> None:
            journal.append(run, sample)
            tally.add(sample)
            seen(sample)
            spent = time.monotonic() - begun.pop(id(task))
            session.progress(SampleEnds(task, sample, spent))

        try:
            with measuring_lock(session.say):
                session.progress(RunBegins(subject.label, tuple(left), session.workers))
                carry_out(left, executor, began, ended, session.workers)
        finally:
            session.progress(RunEnds(subject.label))
            for problem in _renew(session.results, journal):
                session.say(f"skipped: {problem}", "warning")
    if not session.keep_caches:
        shutil.rmtree(caches, ignore_errors=True)
        with contextlib.suppress(OSError):  # others of the run are still needed
            caches.parent.rmdir()
    return tally


def _where_it_stopped(
    session: Session, journal: Journal, header: JournalHeader
) -> tuple[str, list[Sample]]:
    """The run to go on with and what it has taken; a new run if there is none or none is wanted.

    A canary between two halves of a history is not what the second half goes on with.
    """
    if not session.resume or not journal.path.exists():
        return session.run, []
    # Samples of an environment that has changed since are not this run's.
    entries = [
        entry
        for entry in journal.read().entries
        if comparable(header, entry) and plan_of(entry.run) in ("", plan_of(session.run))
    ]
    if not entries:
        return session.run, []
    last = max(entry.run for entry in entries)
    return last, [entry.sample for entry in entries if entry.run == last]


def _renew(results: Path, journal: Journal) -> list[Problem]:
    """Make the result file anew from the journal; what it cannot hold is returned."""
    contents = journal.read()
    if contents.header is None:
        return []
    write_benchmarks(results, Path(benchmarks.__file__).parent)
    return project(results, contents)
