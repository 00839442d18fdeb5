"""Telling how far a command is that takes samples: of all its subjects, or of a step at a time."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from observatory.app.progress import Progress, Update, failure_of
from observatory.benchmarks.plan import Task
from observatory.run.schedule import Estimate
from observatory.store.records.sample import Sample
from observatory.text.units import seconds


class Course:
    """The course of a command: how many samples it has taken, and how long the others will take."""

    def __init__(self, progress: Progress, workers: int) -> None:
        self.progress = progress
        self.estimate = Estimate((), workers)
        self.done = self.total = 0

    def of(self, label: str, tasks: Sequence[Task]) -> Part:
        """What is told of a subject of this name, of which these tasks are expected."""
        found = Part(self, label)
        found.expect(tasks)
        return found

    def time_left(self) -> str:
        """In words."""
        return _left(self.estimate.seconds_left())


class Part:
    """The samples of one subject, or some of them, in the course of a command."""

    def __init__(self, course: Course, label: str) -> None:
        self.course, self.label = course, label
        self._expected: Sequence[Task] = ()
        self._began: dict[int, float] = {}

    def expect(self, tasks: Sequence[Task]) -> None:
        """Take note of the tasks that are left, instead of those that were expected before."""
        course = self.course
        course.estimate.drop(self._expected)
        course.estimate.expect(tasks)
        course.total += len(tasks) - len(self._expected)
        self._expected = tasks

    def began(self, task: Task) -> None:
        """Tell which sample is being taken now."""
        self._began[id(task)] = time.monotonic()
        course = self.course
        # A narrow terminal cuts the end off.
        text = f"{course.time_left()}: {self.label}  {task.cell} {task.measure}"
        course.progress(Update(text, "activity", course.done, course.total))

    def ended(self, task: Task, sample: Sample) -> None:
        """Tell how it ended."""
        course = self.course
        took = time.monotonic() - self._began.pop(id(task))
        course.estimate.finished(task, took)
        course.done += 1
        if failure := failure_of(sample):
            text = f"{self.label}: {task.cell} ({task.measure}) {failure}"
        else:
            count = f"{self.label} [{course.done}/{course.total}]"
            text = f"{count} {task.cell} {task.measure}: {seconds(took)}; {course.time_left()}"
        course.progress(Update(text, "error" if failure else "sample", course.done, course.total))


class Step:
    """The samples of a command that are expected now; which ones follow depends on them."""

    def __init__(self) -> None:
        self._estimate = Estimate((), 1)
        self._began: dict[tuple[str, int], float] = {}
        self._deadline = math.inf
        self.done = self.total = 0

    def begin(self, tasks: Sequence[Task], workers: int, deadline: float = math.inf) -> None:
        """Expect other tasks, ``workers`` at a time; none begins after ``deadline``."""
        self._estimate.begin(tasks, workers)
        self._deadline = deadline
        self.done, self.total = 0, len(tasks)

    def began(self, task: Task, side: str) -> None:
        """Take note that a task of this side began."""
        self._began[side, id(task)] = time.monotonic()

    def ended(self, task: Task, side: str, sample: Sample) -> None:
        """Learn from how long it took; of a pair on a fleet, the end of both is told at once."""
        waited = time.monotonic() - self._began.pop((side, id(task)))
        took = waited if sample.overhead is None else sample.overhead.total
        self._estimate.finished(task, took)
        self.done += 1

    def time_left(self) -> str:
        """In words: until all are taken, or until the deadline."""
        return _left(min(self._estimate.seconds_left(), self._deadline - time.monotonic()))


def _left(of: float) -> str:
    left = round(of)
    return f"about {seconds(left)} left" if left > 0 else "nothing left"
