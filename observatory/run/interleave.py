"""Two subjects measured side by side: who is measured when. Interprets no number.

Counting samples come first, a group of cells at a time, two samples at once; then tracing; then
timing, strictly alone, in pairs: one process of each side, in random order, cell after cell, so
that whatever the machine does meets both sides alike.
"""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.catalogue import (
    BACKENDS,
    MAIN_BACKENDS,
    MATRIX_LAUNCHES,
    MATRIX_SCENARIOS,
    MEASURES,
    SCENARIOS,
    Cell,
    Measure,
    cells,
    metrics_of,
)
from benchmarks.plan import Rounds, Task, plan
from observatory.run.presets import Narrowed
from observatory.run.schedule import TakesSamples, side_by_side
from observatory.store.records.sample import Sample

SideName = Literal["base", "head"]
SIDES: tuple[SideName, ...] = ("base", "head")
DEFAULT_BACKENDS = tuple(sorted(MAIN_BACKENDS, key=lambda one: BACKENDS[one].cache == "c_module"))
"""What a comparison takes unless told otherwise: those with most caches to lose come first."""
_LONG = tuple(name for name, one in SCENARIOS.items() if one.long)
"""With C modules they are counted only where the scenario is named."""
TRACED = 2
"""Tracing samples a side."""


@dataclass(frozen=True)
class Job:
    """One sample of one side."""

    side: SideName
    task: Task


@dataclass(frozen=True)
class Matrix:
    """The cells of a comparison by what is taken of them."""

    groups: tuple[tuple[str, tuple[Cell, ...]], ...]
    """Counted: a name and the cells, in the order in which they are counted."""
    traced: tuple[Cell, ...]
    timed: tuple[Cell, ...]

    def of_timed(self) -> Matrix:
        """The same times, with no more counted than they start from."""
        wanted = set(self.timed) | set(self.traced)
        groups = ((name, tuple(c for c in group if c in wanted)) for name, group in self.groups)
        return Matrix(tuple(g for g in groups if g[1]), self.traced, self.timed)

    @property
    def counted(self) -> tuple[Cell, ...]:
        """Every cell: what is timed is also counted."""
        return tuple(cell for _, group in self.groups for cell in group)


def matrix(narrowed: Narrowed) -> Matrix:
    """The cells of a comparison, narrowed by the user's options; groups are empty if none is left.

    Everything is counted but what takes long and tells nothing new. Times are taken of warm builds
    and calls, under one launch (spawn where both are wanted), and of cold builds only if the
    scenario is named: they take long and their counts tell the same. Counting is never left out,
    as the other passes start from the caches that it fills.
    """
    backends = tuple(narrowed.backends or DEFAULT_BACKENDS)
    chosen = [
        cell
        for cell in cells(
            tuple(narrowed.models or ("radon",)),
            tuple(narrowed.scenarios or MATRIX_SCENARIOS),
            backends,
            tuple(narrowed.launches or MATRIX_LAUNCHES),
        )
        if BACKENDS[cell.backend].cache != "c_module"
        or cell.scenario not in _LONG
        or narrowed.scenarios
    ]
    launch = "spawn" if any(cell.launch == "spawn" for cell in chosen) else "fork"
    scenarios = {name for name, one in SCENARIOS.items() if one.timed}
    scenarios.update(narrowed.scenarios or ())
    one_launch = [c for c in chosen if c.launch == launch and c.scenario in scenarios]
    wanted = MEASURES if narrowed.measures is None else narrowed.measures
    traced, timed = (
        tuple(c for c in one_launch if measure in wanted and _has(c, measure))
        for measure in ("tracing", "timing")
    )
    return Matrix(tuple(_groups(chosen, backends)), traced, timed)


def _groups(
    chosen: Sequence[Cell], backends: Sequence[str]
) -> Iterable[tuple[str, tuple[Cell, ...]]]:
    """By backend, quick scenarios first; then what takes long: siblings and variants."""
    for name, scenarios in (("caches", None), ("siblings and variants", _LONG)):
        for backend in backends:
            group = [
                cell
                for cell in chosen
                if cell.backend == backend and (cell.scenario in _LONG) == (scenarios is _LONG)
            ]
            if group:
                yield f"{backend} {name}", tuple(group)


def _has(cell: Cell, measure: str) -> bool:
    return any(m.measure == measure for m in metrics_of(cell.scenario, cell.launch))


@dataclass
class Interleaving:
    """Takes the samples of two sides. `began` and `ended` are told of each, from this thread."""

    executors: Mapping[SideName, TakesSamples]
    began: Callable[[Job], None]
    ended: Callable[[Job, Sample], None]
    workers: int
    order: random.Random
    """Which side of a pair comes first."""

    def count(self, group: Sequence[Cell], deadline: float = math.inf) -> bool:
        """Fill caches where that was not done yet, and count each cell once on each side.

        ``deadline``: of `time.monotonic`. A pair that has begun is finished; False if there were
        others.
        """
        tasks = plan(group, Rounds(timing=0, counting=1))
        fillers = [task for task in tasks if task.keep is not None]
        left = deque[Task]()
        for step in (fillers, [task for task in tasks if task.keep is None]):
            left.extend(step)
            self._take(self._pairs(left, self._shuffled(), deadline), self.workers)
        return not left

    def _pairs(
        self, left: deque[Task], sides: Sequence[SideName], deadline: float
    ) -> Iterator[Job]:
        """What has to be done of some tasks, on both sides; tasks are taken off as they begin."""
        while left and time.monotonic() < deadline:
            task = left.popleft()
            for side in sides:
                if task.keep is None or not (self.executors[side].caches / task.keep).is_dir():
                    yield Job(side, task)

    def recount(self, chosen: Sequence[Cell]) -> None:
        """Count cells once more, on both sides, from the caches that are filled."""
        self._take(self._repeats(chosen, "counting", 1), self.workers)

    def trace(self, chosen: Sequence[Cell]) -> None:
        """Take the tracing samples of some cells."""
        self._take(self._repeats(chosen, "tracing", TRACED), self.workers)

    def time(self, chosen: Sequence[Cell], rounds: int, deadline: float) -> bool:
        """Take `rounds` pairs of timed samples of each cell; False if the deadline came before.

        ``deadline``: of `time.monotonic`. A pair that has begun is finished.
        """
        for number in range(rounds):
            for cell in chosen:
                if time.monotonic() >= deadline:
                    return False
                task = _repeat(cell, "timing", number)
                self._take([Job(side, task) for side in self._shuffled()], 1)
        return True

    def _repeats(self, chosen: Sequence[Cell], measure: Measure, rounds: int) -> list[Job]:
        return [
            Job(side, _repeat(cell, measure, number))
            for number in range(rounds)
            for cell in chosen
            for side in self._shuffled()
        ]

    def _shuffled(self) -> list[SideName]:
        return self.order.sample(SIDES, len(SIDES))

    def _take(self, jobs: Iterable[Job], workers: int) -> None:
        side_by_side(
            jobs,
            lambda job: self.executors[job.side].run(job.task),
            self._cancel,
            self.began,
            self.ended,
            workers,
        )

    def _cancel(self) -> None:
        for executor in self.executors.values():
            executor.cancel()


def _repeat(cell: Cell, measure: Measure, number: int) -> Task:
    """A task that starts from what `Interleaving.count` has filled, if it starts from anything."""
    (task,) = (
        task
        for task in plan([cell], Rounds(0, 0, 0), {cell: _only(measure)})
        if task.cell == cell and task.keep is None
    )
    return Task(cell, measure, number, cache=task.cache)


def _only(measure: Measure) -> Rounds:
    return Rounds(
        timing=int(measure == "timing"),
        counting=int(measure == "counting"),
        tracing=int(measure == "tracing"),
    )
