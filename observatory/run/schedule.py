"""The order in which the tasks of a plan are carried out, and how long the rest will take."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

from observatory.benchmarks.catalogue import BACKENDS, MODELS, SCENARIOS, Measure
from observatory.benchmarks.plan import Task
from observatory.run.batches import Batch, GivesWay, Line
from observatory.store.records.sample import Sample

_SLOWER: Mapping[Measure, float] = {"tracing": 1.2, "work": 12.0}
"""How many times as long a sample takes with these passes; `work` under valgrind."""
_PRIOR = 15.0
"""Seconds of expected work that are added to what was measured: about three samples' worth."""


class TakesSamples(Protocol):
    """What carries out one task: `execute.Executor`, a fleet's, or a fake in tests."""

    def holds(self, cache: str) -> bool:
        """Return whether a filled cache is there to start from."""
        ...

    def run(self, task: Task) -> Sample:
        """Take the sample of a task."""
        ...

    def cancel(self) -> None:
        """End the samples that are running."""
        ...


def batches_of(
    tasks: Sequence[Task],
    executor: TakesSamples,
    began: Callable[[Task], None],
    ended: Callable[[Task, Sample], None],
    workers: int,
    deadline: float = math.inf,
    turn: GivesWay | None = None,
    timed_at_once: int = 1,
) -> Line:
    """The tasks in the order in which they may begin; see `batches.carry_out`.

    Tasks that fill caches come first, because others start from these caches; then counting and
    tracing, ``workers`` at a time; then timing, one at a time with nothing beside it, or
    ``timed_at_once`` where the executor gives each a machine of its own. No task begins after
    ``deadline``, a time of `time.monotonic`.
    """
    fillers = [task for task in tasks if task.keep is not None]
    timed = [task for task in tasks if task.keep is None and task.measure == "timing"]
    others = [task for task in tasks if task.keep is None and task.measure != "timing"]
    for group, at_once in ((fillers, workers), (others, workers), (timed, timed_at_once)):
        in_time = takewhile(lambda _: time.monotonic() < deadline, group)
        yield Batch(in_time, executor.run, executor.cancel, began, ended, at_once, turn)


def remaining(
    tasks: Iterable[Task], taken: Iterable[Sample], holds: Callable[[str], bool]
) -> list[Task]:
    """Return the tasks of a plan that an interrupted run did not complete.

    A task whose cache is gone is repeated if a remaining task starts from that cache; ``holds``
    says whether it is still there.
    """
    tasks = list(tasks)
    done = Counter((sample.cell, sample.measure) for sample in taken)
    left = []
    for task in tasks:
        done[task.cell, task.measure] -= 1
        if done[task.cell, task.measure] < 0:
            left.append(task)
    needed = {task.cache for task in left if task.cache is not None}
    refill = [
        task
        for task in tasks
        if task.keep in needed and task not in left and not holds(str(task.keep))
    ]
    return refill + left


def expected_seconds(task: Task) -> float:
    """Return how many seconds a task takes on the machine that the catalogue describes."""
    cell = task.cell
    backend = BACKENDS[cell.backend]
    seconds = SCENARIOS[cell.scenario].seconds_with(backend.expected_as) * MODELS[cell.model].size
    return seconds * backend.slower * (1.0 if task.keep else _SLOWER.get(task.measure, 1.0))


@dataclass(frozen=True)
class Share:
    """A part of a plan: the scenarios of one family."""

    family: str
    models: tuple[str, ...]
    samples: int
    seconds: float
    """Of wall time, on the machine that the catalogue describes."""


def shares(tasks: Sequence[Task], workers: int) -> list[Share]:
    """Return what the families of scenarios take of a plan, the longest first."""
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(SCENARIOS[task.cell.scenario].family, []).append(task)
    found = [
        Share(
            family,
            tuple(dict.fromkeys(task.cell.model for task in group)),
            len(group),
            sum(wall_seconds(task, workers) for task in group),
        )
        for family, group in groups.items()
    ]
    return sorted(found, key=lambda one: -one.seconds)


def wall_seconds(task: Task, workers: int) -> float:
    """Return the expected seconds by which a task makes its plan longer: times are taken alone."""
    return expected_seconds(task) / (1 if task.measure == "timing" else workers)


class Estimate:
    """The remaining wall time of tasks, learned from those that have ended."""

    def __init__(self, tasks: Iterable[Task], workers: int) -> None:
        self.workers = workers
        self._spent, self._expected = 0.0, 0.0
        self._left = Counter[float]()
        """The number of tasks that are left by their wall time: a sum of seconds would drift."""
        self.expect(tasks)

    def begin(self, tasks: Iterable[Task], workers: int) -> None:
        """Expect other tasks instead of those that are left, ``workers`` at a time."""
        self.workers = workers
        self._left.clear()
        self.expect(tasks)

    def expect(self, tasks: Iterable[Task]) -> None:
        """Add tasks that are left."""
        self._left.update(map(self._wall, tasks))

    def drop(self, tasks: Iterable[Task]) -> None:
        """Forget tasks that will not be taken."""
        self._left.subtract(map(self._wall, tasks))

    def finished(self, task: Task, seconds: float) -> None:
        """Learn from a task that took ``seconds``."""
        self._spent += seconds
        self._expected += expected_seconds(task)
        self.drop([task])

    def seconds_left(self) -> float:
        """Return the seconds from now to the end of the plan."""
        left = sum(wall * number for wall, number in self._left.items())
        return left * (self._spent + _PRIOR) / (self._expected + _PRIOR)

    def _wall(self, task: Task) -> float:
        return wall_seconds(task, self.workers)
