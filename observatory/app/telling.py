"""Telling how far a command is that takes samples: of all its subjects together."""

from __future__ import annotations

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
        left = round(self.estimate.seconds_left())
        return f"about {seconds(left)} left" if left else "nothing left"


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
        text = f"{self.label}  {task.cell} {task.measure}, {course.time_left()}"
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
