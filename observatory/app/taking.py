"""Take the samples of one subject into its journal, and rewrite its result file."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from operator import add
from pathlib import Path

from observatory.app import unwritten
from observatory.app.going_on import Place, Run, discard, only_here
from observatory.app.progress import Update, failure_of
from observatory.app.session import Session
from observatory.benchmarks.plan import Task
from observatory.errors import Exit
from observatory.run.environments import Environment
from observatory.run.filled import CACHES, sweep
from observatory.run.fleets import FleetSamples
from observatory.run.schedule import Estimate, TakesSamples, carry_out, remaining
from observatory.run.spool import fetch_left
from observatory.store.journal.models import JournalHeader
from observatory.store.journal.writer import Journal
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject
from observatory.text.units import seconds
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
        if self.wrong:
            return Exit.WRONG_RESULTS
        if self.failed:
            return Exit.SAMPLE_FAILED
        return Exit.ENVIRONMENT if self.without_environment else Exit.OK

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

    def append(self, run: str, sample: Sample, executor: TakesSamples | FleetSamples) -> None:
        """Record a sample that an executor took; it is on disk when this returns."""
        machine = self.header.machine
        if hasattr(executor, "machine_of"):
            machine = executor.machine_of(sample)
        if machine not in self._of:
            header = self.header.model_copy(update={"machine": machine})
            self._of[machine] = Journal.of(self.results, header)
        self._of[machine].append(run, sample)


def take_samples(
    session: Session,
    subject: Subject,
    environment: Environment,
    tasks: Sequence[Task],
    seen: Callable[[Sample], None] = lambda _: None,
) -> Tally:
    """Take the samples of a plan, record each at once, and then rewrite the result file.

    The result file is rewritten even if the run is interrupted. ``seen`` is called with each sample
    that was recorded. Returns how the samples ended, with those of the run that continues. Raises
    RunningError if another process continues that run.
    """
    for line in fetch_left(session.state):
        session.say(line)
    unwritten.write_left(session.state)
    header = JournalHeader(subject=subject, versions=environment.versions, machine=session.machine)
    journals = Journals(session.results, header)
    # A warm build must not start from the cache of another environment or from machine code for
    # another CPU.
    cpu = hashlib.blake2b(session.machine.cpu.encode(), digest_size=4).hexdigest()
    place = Place(session.state / CACHES, f"{environment.key}-{cpu}")
    sweep(place.root)
    with only_here(journals.own, session.run, session.resume, place) as run:
        return _take_samples(session, environment, tasks, seen, journals, run)


def _take_samples(
    session: Session,
    environment: Environment,
    tasks: Sequence[Task],
    seen: Callable[[Sample], None],
    journals: Journals,
    going_on: Run,
) -> Tally:
    subject, run, caches = journals.header.subject, going_on.id, going_on.caches
    own = {task.cell.installs for task in tasks}
    taken = [sample for sample in going_on.taken if sample.cell.installs in own]
    tally = Tally()
    for sample in taken:
        tally.add(sample)
    if remaining(tasks, taken, lambda _: True):
        added = sorted({one for installs in own for one in installs})
        with session.lock() as turn, unwritten.noted(
            session.state, session.results, journals.own.path
        ), session.taking(
            session.results, subject, environment, caches, added=added
        ) as executor:  # fmt: skip
            left = remaining(tasks, taken, executor.holds)
            notify = _notifier(session, subject.label, left)

            def ended(task: Task, sample: Sample) -> None:
                journals.append(run, sample, executor)
                tally.add(sample)
                seen(sample)
                notify(task, sample)

            try:
                carry_out(
                    left, executor, notify, ended, session.workers, session.deadline, turn,
                    session.timed_at_once,
                )  # fmt: skip
                if missing := len(taken) + len(left) - tally.taken:
                    session.say(
                        f"{subject.label}: the budget ended before {several(missing, 'sample')}; "
                        "--resume takes them",
                        "warning",
                    )
            finally:
                session.progress(Update("", "activity"))
                for problem in unwritten.write(session.results, journals.own.path):
                    session.say(f"skipped: {problem}", "warning")
    if not session.keep_caches:
        discard(caches)
        if session.fleet is not None:
            session.fleet.tidy(caches)
    return tally


def _notifier(session: Session, label: str, tasks: Sequence[Task]) -> Callable[..., None]:
    """What `carry_out` calls when a task begins or ends: it reports progress and the time left."""
    estimate = Estimate(tasks, session.workers)
    began: dict[int, float] = {}
    done = 0

    def notify(task: Task, sample: Sample | None = None) -> None:
        nonlocal done
        if sample is None:
            began[id(task)] = time.monotonic()
            text = f"{label}  {task.cell} {task.measure}, {_left(estimate)}"
            session.progress(Update(text, "activity", done, len(tasks)))
            return
        took = time.monotonic() - began.pop(id(task))
        estimate.finished(task, took)
        done += 1
        if failure := failure_of(sample):
            text = f"{label}: {task.cell} ({task.measure}) {failure}"
        else:
            count = f"{label} [{done}/{len(tasks)}]"
            text = f"{count} {task.cell} {task.measure}: {seconds(took)}; {_left(estimate)}"
        session.progress(Update(text, "error" if failure else "sample", done, len(tasks)))

    return notify


def _left(estimate: Estimate) -> str:
    left = round(estimate.seconds_left())
    return f"about {seconds(left)} left" if left else "nothing left"
