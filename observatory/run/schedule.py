"""Carrying out the tasks of a plan, some at a time, and estimating how long the rest will take."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Protocol, TypeVar

from observatory.benchmarks.catalogue import BACKENDS, MODELS, SCENARIOS, Measure
from observatory.benchmarks.plan import Task
from observatory.store.records.sample import Sample

_Job = TypeVar("_Job")
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


class GivesWay(Protocol):
    """The turn of a run on this machine: `local.Turn`, or a fake in tests."""

    def is_over(self) -> bool:
        """Whether another run waits, and this one has measured long enough."""
        ...

    def give_way(self) -> None:
        """Let it measure, and wait."""
        ...


def carry_out(
    tasks: Sequence[Task],
    executor: TakesSamples,
    began: Callable[[Task], None],
    ended: Callable[[Task, Sample], None],
    workers: int,
    deadline: float = math.inf,
    turn: GivesWay | None = None,
    timed_at_once: int = 1,
) -> None:
    """Run every task, and call ``began`` and ``ended`` as soon as it begins and has ended.

    Tasks that fill caches come first, because others start from these caches; then counting and
    tracing, ``workers`` at a time; then timing, one at a time with nothing beside it, or
    ``timed_at_once`` where the executor gives each a machine of its own. No task begins after
    ``deadline``, a time of `time.monotonic`. Once the ``turn`` of this run is over, it gives way
    between two samples. Both functions are called from this thread. An exception in it, such as
    Ctrl-C, ends the samples that are running.
    """
    fillers = [task for task in tasks if task.keep is not None]
    timed = [task for task in tasks if task.keep is None and task.measure == "timing"]
    others = [task for task in tasks if task.keep is None and task.measure != "timing"]
    for group, at_once in ((fillers, workers), (others, workers), (timed, timed_at_once)):
        in_time = takewhile(lambda _: time.monotonic() < deadline, group)
        side_by_side(in_time, executor.run, executor.cancel, began, ended, at_once, turn)


def side_by_side(
    jobs: Iterable[_Job],
    take: Callable[[_Job], Sample],
    cancel: Callable[[], None],
    began: Callable[[_Job], None],
    ended: Callable[[_Job, Sample], None],
    workers: int,
    turn: GivesWay | None = None,
) -> None:
    """Take the samples of jobs in their order, at most ``workers`` at a time.

    The next job is read when it can begin, so the iterable may end early. ``take`` runs in threads;
    ``began`` and ``ended`` are called from this one. An exception here, such as Ctrl-C, calls
    ``cancel``, which ends the samples that are running, and is raised when they have ended.
    """
    pending = iter(jobs)
    running: dict[Future[Sample], _Job] = {}
    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="sample") as pool:
        try:
            while True:
                over = turn is not None and turn.is_over()
                for job in islice(pending, 0 if over else workers - len(running)):
                    began(job)
                    running[pool.submit(take, job)] = job
                if turn is not None and over and not running:
                    turn.give_way()
                    continue
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    ended(running.pop(future), future.result())
        except BaseException:
            cancel()  # before the pool waits for its threads
            raise


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


@dataclass
class Estimate:
    """The remaining wall time of a plan, learned from the tasks that have ended."""

    tasks: Sequence[Task]
    workers: int
    _spent: float = 0.0
    _expected: float = 0.0
    _done: set[int] = field(default_factory=set)

    def finished(self, task: Task, seconds: float) -> None:
        """Learn from a task that took ``seconds``."""
        self._spent += seconds
        self._expected += expected_seconds(task)
        self._done.add(id(task))

    def seconds_left(self) -> float:
        """Return the seconds from now to the end of the plan."""
        left = sum(
            wall_seconds(task, self.workers) for task in self.tasks if id(task) not in self._done
        )
        return left * (self._spent + _PRIOR) / (self._expected + _PRIOR)
