"""Take the samples of a subject into its journal, and rewrite its result file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from operator import add
from pathlib import Path

from observatory.app import unwritten
from observatory.app.going_on import Place, Run, discard, only_here
from observatory.app.progress import Update
from observatory.app.session import Session
from observatory.app.telling import Course, Part
from observatory.benchmarks.messages import Failure
from observatory.benchmarks.plan import Task
from observatory.errors import Exit, severest
from observatory.run.batches import Line, carry_out
from observatory.run.environments import Environment
from observatory.run.execute import without_record
from observatory.run.filled import CACHES, sweep
from observatory.run.fleets import FleetSamples
from observatory.run.schedule import TakesSamples, batches_of, remaining
from observatory.run.spool import fetch_left
from observatory.store.base.problems import RecordError
from observatory.store.journal.models import JournalHeader
from observatory.store.journal.writer import Journal
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from observatory.text.words import several


@dataclass
class Tally:
    """How many samples of a run ended in which way."""

    taken: int = 0
    failed: int = 0
    wrong: int = 0
    unavailable: int = 0
    without_environment: int = 0
    """Number of subjects, not of samples: 1 where it lacks one of several environments."""

    def add(self, sample: Sample) -> None:
        """Count one sample."""
        self.taken += 1
        self.failed += sample.status not in ("ok", "unavailable")
        self.unavailable += sample.status == "unavailable"
        self.wrong += bool(sample.metrics.get("wrong_results", 0))

    def __add__(self, other: Tally) -> Tally:
        return Tally(*map(add, astuple(self), astuple(other)))

    @property
    def exit_code(self) -> Exit:
        """The exit status of a command that took these samples; wrong numbers come first."""
        statuses = {
            Exit.WRONG_RESULTS: self.wrong, Exit.SAMPLE_FAILED: self.failed,
            Exit.ENVIRONMENT: self.without_environment,
        }  # fmt: skip
        return Exit(severest(one for one, number in statuses.items() if number))

    def sentence(self) -> str:
        """A sentence that says how the samples ended."""
        counts = {
            "RETURNED WRONG RESULTS": self.wrong,
            "FAILED (the journal says how)": self.failed,
            "not available in the subject": self.unavailable,
            "SUBJECTS WITHOUT AN ENVIRONMENT": self.without_environment,
        }
        parts = [f"{count} {text}" for text, count in counts.items() if count]
        return ", ".join([several(self.taken, "sample"), *parts]) + "."


class Journals:
    """The journals of one subject: of this machine, or of each machine that took samples."""

    def __init__(self, results: Path, header: JournalHeader) -> None:
        self.results, self.header = results, header
        self.own = Journal.of(results, header)
        self._of = {header.machine: self.own}

    def append(self, run: str, task: Task, sample: Sample, executor: TakesSamples) -> Sample:
        """Record the sample that an executor took of a task; it is on disk when this returns.

        Returns what was recorded: of a sample that the journal refuses, for its size or its shape,
        that the task failed, and why. Otherwise no run could ever get past this task. Raises
        OSError, and JournalError if the journal is of another subject.
        """
        fleet = executor if isinstance(executor, FleetSamples) else None
        machine = self.header.machine if fleet is None else fleet.machine_of(sample)
        if machine not in self._of:
            header = self.header.model_copy(update={"machine": machine})
            self._of[machine] = Journal.of(self.results, header)
        recorded = sample
        try:
            self._of[machine].append(run, sample)
        except RecordError as error:
            message = f"the sample cannot be recorded: {error}"[:4000]
            failure = Failure(message=message, signal=None, exit_code=None, stderr=())
            recorded = without_record(task, sample.started_at, failure, "raised")
            self._of[machine].append(run, recorded)
        if fleet is not None:
            fleet.accept(sample)
        return recorded


def take_samples(
    session: Session,
    subject: Subject,
    environment: Environment,
    tasks: Sequence[Task],
    seen: Callable[[Sample], None] = lambda _: None,
) -> Tally:
    """Take the samples of one subject; see `samples_of`. Returns how they ended."""
    tally = Tally()
    told = Course(session.progress, session.workers).of(subject.label, tasks)
    line = samples_of(session, subject, environment, tasks, told, tally, seen)
    carry_out([line], session.workers)
    return tally


def samples_of(
    session: Session,
    subject: Subject,
    environment: Environment,
    tasks: Sequence[Task],
    told: Part,
    tally: Tally,
    seen: Callable[[Sample], None] = lambda _: None,
) -> Line:
    """Take the samples of a plan, record each at once, and then rewrite the result file.

    The result file is rewritten even if the run is interrupted. ``told``: what reports progress.
    ``tally``: where samples are counted, with those of the run that continues. ``seen`` is called
    with each sample that was recorded. Raises RunningError if another process continues that run.
    """
    for line in fetch_left(session.state):
        session.say(line)
    for line in unwritten.write_left(session.state):
        session.say(line, "warning")
    header = JournalHeader(subject=subject, versions=environment.versions, machine=session.machine)
    journals = Journals(session.results, header)
    # A warm build must not start from the cache of another environment or from machine code for
    # another CPU.
    cpu = hashlib.blake2b(session.machine.cpu.encode(), digest_size=4).hexdigest()
    place = Place(session.state / CACHES, f"{environment.key}-{cpu}")
    sweep(place.root)
    with only_here(journals.own, session.run, session.resume, place) as run:
        if session.resume and run.id == session.run:
            session.say(f"{subject.label}: there is no run to continue, so a new one begins")
        yield from _samples_of(session, environment, tasks, told, tally, seen, journals, run)


def _samples_of(
    session: Session,
    environment: Environment,
    tasks: Sequence[Task],
    told: Part,
    tally: Tally,
    seen: Callable[[Sample], None],
    journals: Journals,
    going_on: Run,
) -> Line:
    subject, run, caches = journals.header.subject, going_on.id, going_on.caches
    own = {task.cell.installs for task in tasks}
    taken = [sample for sample in going_on.taken if sample.cell.installs in own]
    for sample in taken:
        tally.add(sample)
    if remaining(tasks, taken, lambda _: True):
        added = sorted({one for installs in own for one in installs})
        with session.lock() as turn, unwritten.noted(
            session.state, session.results, journals.own.path
        ), session.taking(
            session.results, subject, environment, caches, run=run, added=added
        ) as executor:  # fmt: skip
            left = remaining(tasks, taken, executor.holds)
            told.expect(left)
            missing = len(left)

            def ended(task: Task, sample: Sample) -> None:
                nonlocal missing
                sample = journals.append(run, task, sample, executor)
                missing -= 1
                tally.add(sample)
                seen(sample)
                told.ended(task, sample)

            try:
                yield from batches_of(
                    left, executor, told.began, ended, session.workers, session.deadline, turn,
                    session.timed_at_once,
                )  # fmt: skip
                if missing:
                    session.say(
                        f"{subject.label}: the budget ended before {several(missing, 'sample')}; "
                        "--resume takes them",
                        "warning",
                    )
            finally:
                session.progress(Update("", "activity"))
                for problem in unwritten.write(session.results, journals.own.path):
                    session.say(f"skipped: {problem}", "warning")
    else:
        told.expect(())
    if not session.keep_caches:
        discard(caches)
        if session.fleet is not None:
            session.fleet.tidy(caches)
