"""Carrying out jobs, some at a time: those of one subject batch by batch, subjects beside another.

A *line* is an iterator of batches. A batch begins when all jobs of the one before it have ended,
so that a line can fill caches first and start from them afterwards. Where one line has no job that
may begin now, the next one gives its own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from observatory.store.records.sample import Sample

_Job = TypeVar("_Job")


class GivesWay(Protocol):
    """The turn of a run on this machine: `local.Turn`, or a fake in tests."""

    def is_over(self) -> bool:
        """Whether another run waits, and this one has measured long enough."""
        ...

    def give_way(self) -> None:
        """Let it measure, and wait."""
        ...


@dataclass
class Batch(Generic[_Job]):
    """Jobs that may run beside each other.

    ``take`` runs in threads; ``began`` and ``ended`` are called from the thread of `carry_out`.
    """

    jobs: Iterator[_Job]
    """Each is read when it can begin, so they may end early."""
    take: Callable[[_Job], Sample]
    cancel: Callable[[], None]
    """Ends the samples that are running."""
    began: Callable[[_Job], None]
    ended: Callable[[_Job, Sample], None]
    at_once: int
    turn: GivesWay | None = None
    """Once it is over, no job begins until those that run have ended and it has given way."""


Line = Generator[Batch[Any], None, None]


@dataclass
class _Open:
    """A line that has begun, and the batch that it is at."""

    line: Line
    batch: Batch[Any] | None = None
    running: int = 0

    def next_job(self) -> tuple[Batch[Any], Any] | None:
        """The next job and its batch; None if none may begin now. Raises StopIteration at the end.

        No job is None.
        """
        while True:
            batch = self.batch = self.batch or next(self.line)
            if self.running >= batch.at_once:
                return None
            if (job := next(batch.jobs, None)) is not None:
                return batch, job
            if self.running:
                return None
            self.batch = None


def alone(batch: Batch[Any]) -> Line:
    """A line of one batch."""
    yield batch


def carry_out(lines: Iterable[Line], workers: int, at_once: int = 1) -> None:
    """Carry out all batches of all lines, at most ``workers`` jobs at a time.

    Lines begin in their order, at most ``at_once`` of them are open, and one begins only when those
    before it leave a worker without a job. An exception here, such as Ctrl-C, or of a job ends the
    samples that are running, closes the open lines, and is raised.
    """
    # A line is closed when its samples have ended, so after the pool.
    with (
        ExitStack() as closing,
        ThreadPoolExecutor(max_workers=workers, thread_name_prefix="sample") as pool,
    ):
        work = _Work(iter(lines), at_once, closing)
        try:
            while True:
                turn = work.turn()
                over = turn is not None and turn.is_over()
                while not over and len(work.running) < workers and work.begin(pool):
                    pass
                if work.running:
                    work.wait()
                elif turn is not None and over:
                    turn.give_way()
                else:
                    break
        except BaseException:
            work.cancel()  # before the pool waits for its threads
            raise


@dataclass
class _Work:
    waiting: Iterator[Line]
    at_once: int
    closing: ExitStack
    opened: list[_Open] = field(default_factory=list)
    running: dict[Future[Sample], tuple[_Open, Batch[Any], Any]] = field(default_factory=dict)

    def turn(self) -> GivesWay | None:
        """The turn of what is open, which is the same for all lines."""
        return next((one.batch.turn for one in self.opened if one.batch), None)

    def begin(self, pool: ThreadPoolExecutor) -> bool:
        """Begin a job; return whether there was one."""
        for one in self._candidates():
            try:
                found = one.next_job()
            except StopIteration:
                self.opened.remove(one)
                continue
            if found is not None:
                batch, job = found
                batch.began(job)
                self.running[pool.submit(batch.take, job)] = one, batch, job
                one.running += 1
                return True
        return False

    def _candidates(self) -> Iterator[_Open]:
        yield from list(self.opened)
        while len(self.opened) < self.at_once and (line := next(self.waiting, None)) is not None:
            self.closing.callback(line.close)
            self.opened.append(_Open(line))
            yield self.opened[-1]

    def wait(self) -> None:
        """Wait until a job ends."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        for future in done:
            one, batch, job = self.running.pop(future)
            one.running -= 1
            batch.ended(job, future.result())

    def cancel(self) -> None:
        """End the samples that are running."""
        for one in self.opened:
            if one.batch is not None:
                one.batch.cancel()
