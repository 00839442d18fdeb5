"""Carries out the tasks of a plan: counting samples side by side, timed ones strictly alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

from benchmarks.plan import Task
from observatory.store.records.sample import Sample

_Job = TypeVar("_Job")


class TakesSamples(Protocol):
    """What carries out one task: `execute.Executor`, or a stand-in in tests."""

    caches: Path

    def run(self, task: Task) -> Sample:
        """Take the sample of a task."""
        ...

    def cancel(self) -> None:
        """End the samples under way."""
        ...


@dataclass(frozen=True)
class Event:
    """Something that a progress display wants to know."""

    task: Task
    sample: Sample | None
    """None: the task begins."""


def carry_out(
    tasks: Sequence[Task],
    executor: TakesSamples,
    record: Callable[[Sample], None],
    notify: Callable[[Event], None],
    workers: int,
) -> None:
    """Run every task and record every sample as soon as it is there.

    Fillers come first, as others start from their caches; then counting and tracing, `workers` at
    a time; then timing, one at a time with nothing beside it. `record` and `notify` are called
    from this thread only. An exception here (Ctrl-C included) ends the samples under way.
    """
    groups = (
        ([task for task in tasks if task.keep is not None], workers),
        ([t for t in tasks if t.keep is None and t.measure != "timing"], workers),
        ([task for task in tasks if task.keep is None and task.measure == "timing"], 1),
    )

    def began(task: Task) -> None:
        notify(Event(task, None))

    def ended(task: Task, sample: Sample) -> None:
        record(sample)
        notify(Event(task, sample))

    for group, at_once in groups:
        side_by_side(group, executor.run, executor.cancel, began, ended, at_once)


def side_by_side(
    jobs: Iterable[_Job],
    take: Callable[[_Job], Sample],
    cancel: Callable[[], None],
    began: Callable[[_Job], None],
    ended: Callable[[_Job, Sample], None],
    workers: int,
) -> None:
    """Take the samples of some jobs in their order, at most `workers` at a time.

    A job is asked for when it can begin: whoever gives them may end them early.

    `take` runs in threads; `began` and `ended` are called from this one. An exception here (Ctrl-C
    included) calls `cancel`, which ends the samples under way, and is raised when they have ended.
    """
    waiting = iter(jobs)
    running: dict[Future[Sample], _Job] = {}
    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="sample") as pool:
        try:
            while True:
                for job in islice(waiting, workers - len(running)):
                    began(job)
                    running[pool.submit(take, job)] = job
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    job = running.pop(future)
                    ended(job, future.result())
        except BaseException:
            cancel()  # before the pool waits for its threads
            raise


def remaining(tasks: Iterable[Task], taken: Iterable[Sample], caches: Path) -> list[Task]:
    """The tasks of a plan that an interrupted run has still to do.

    A filler whose cache is gone is run again if a task that starts from it is left.
    """
    done = Counter((str(_cell(sample)), sample.measure) for sample in taken)
    left = []
    for task in tasks:
        key = (str(task.cell), task.measure)
        if done[key] > 0:
            done[key] -= 1
        else:
            left.append(task)
    needed = {task.cache for task in left if task.cache is not None}
    refill = [
        task
        for task in tasks
        if task.keep in needed and task not in left and not (caches / str(task.keep)).is_dir()
    ]
    return refill + left


def _cell(sample: Sample) -> str:
    cell = sample.cell
    return f"{cell.model} {cell.scenario} {cell.backend} {cell.launch}"
