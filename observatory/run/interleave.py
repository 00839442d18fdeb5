"""Measuring two subjects side by side: which samples are taken, and in which order.

Counting samples come first, a group of cells at a time. Work follows after the first group: traces
of its cells, then their instructions. Other traces and timing samples come last. Timing samples are
taken one at a time and in pairs, one of each side in random order, so that disturbances of the
machine affect both sides alike. If a worker of a fleet dies in the second one, or something is
stopped between them, both are taken again; so they are if their machine is lost between them, on
another one. If the whole cluster is lost, neither counts.
"""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal, Protocol, runtime_checkable

from observatory.benchmarks.catalogue import (
    BACKENDS,
    DEFAULT_MODEL,
    MAIN_BACKENDS,
    MATRIX_LAUNCHES,
    MATRIX_SCENARIOS,
    MEASURES,
    SCENARIOS,
    SHARING_BACKENDS,
    Cell,
    Measure,
    cells,
    metrics_of,
    quick_cells,
)
from observatory.benchmarks.plan import Rounds, Task, cache_of, plan, with_imports
from observatory.run.batches import Batch, alone, carry_out
from observatory.run.fleets import FleetError
from observatory.run.presets import Narrowed, compiles_inside
from observatory.run.schedule import TakesSamples
from observatory.store.records.sample import Sample

SideName = Literal["base", "head"]
SIDES: tuple[SideName, ...] = ("base", "head")
Groups = tuple[tuple[str, tuple[Cell, ...]], ...]
TRACED = 2
"""Tracing samples of each side."""
WORKED = (1, 3, 5)
"""Counts of work of each side, after which a comparison asks whether it needs more."""
WORK: Measure = "work"
_PAIRS_TRIED = 3
"""How often a pair is taken whose second sample was begun again, or too late."""
_APART = timedelta(seconds=30)
"""The longest time between the two samples of a pair; a fleet needs less than a second."""
_LONG = tuple(name for name, one in SCENARIOS.items() if one.long)
"""Scenarios that are counted with C modules only if the user names them."""


@dataclass(frozen=True)
class Job:
    """One sample of one side."""

    side: SideName
    task: Task


@dataclass(frozen=True)
class Matrix:
    """The cells of a comparison by pass."""

    groups: Groups
    """Names and cells of the groups that are counted, in their order."""
    traced: tuple[Cell, ...]
    timed: tuple[Cell, ...]
    worked: tuple[Cell, ...] = ()
    """Only if the user asks for the pass: each sample takes up to a minute."""

    def of_timed(self) -> Matrix:
        """Return the cells that are timed or traced, without those that are only counted."""
        wanted = {*self.timed, *self.traced}
        groups = ((name, tuple(c for c in group if c in wanted)) for name, group in self.groups)
        return replace(self, groups=tuple(g for g in groups if g[1]))

    @property
    def counted(self) -> tuple[Cell, ...]:
        """The cells that are counted, with all that are timed or traced."""
        return tuple(cell for _, group in self.groups for cell in group)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells."""
        return tuple(dict.fromkeys((*self.counted, *self.worked)))


def matrix(narrowed: Narrowed) -> Matrix:
    """Return the cells of a comparison, narrowed by the user's options; groups may be empty.

    All cells are counted, except long scenarios of C modules, which add nothing, unless the user
    names them. The quick sets of Ops and of pairs are counted as well, unless the user names models
    or scenarios. Warm builds and calls are timed, under one start method (spawn if it is wanted);
    cold builds only if the user names them, because they take long. What a compiler inside of the
    process does in a cold build is traced, at last: no count of a cache shows it.
    Counting cannot be left out, because the other passes start from the caches that it fills; the
    pass `work`, which has caches of its own, can be taken alone. Work is counted of the same warm
    builds and calls, unless the user names backends with one backend of each compiler.
    """
    # Backends with more caches that may fail come first.
    default = sorted(MAIN_BACKENDS, key=lambda one: BACKENDS[one].cache == "c_module")
    backends = tuple(narrowed.backends or default)
    chosen = [
        cell
        for cell in cells(
            tuple(narrowed.models or (DEFAULT_MODEL,)),
            tuple(narrowed.scenarios or MATRIX_SCENARIOS),
            backends,
            tuple(narrowed.launches or MATRIX_LAUNCHES),
        )
        if BACKENDS[cell.backend].cache != "c_module"
        or cell.scenario not in _LONG
        or narrowed.scenarios
    ]
    named = narrowed.models is not None or narrowed.scenarios is not None
    shared = tuple(one for one in backends if one in SHARING_BACKENDS)
    wanted_launches = narrowed.launches or ("spawn",)
    once = "spawn" if "spawn" in wanted_launches else wanted_launches[0]
    quick = () if named else quick_cells(shared, (once,))
    groups: dict[str, list[Cell]] = {}
    for name, long in (("caches", False), ("siblings and variants", True)):
        for backend in backends:
            group = [c for c in chosen if c.backend == backend and (c.scenario in _LONG) == long]
            if group:
                groups[f"{backend} {name}"] = group
        if quick and not long:
            groups["Ops, keys and topics"] = list(quick)
    launch = "spawn" if any(cell.launch == "spawn" for cell in chosen) else "fork"
    scenarios = {name for name, one in SCENARIOS.items() if one.timed}
    scenarios.update(narrowed.scenarios or ())
    candidates = [c for c in chosen if c.launch == launch and c.scenario in scenarios]
    wanted = (
        [one for one in MEASURES if one != WORK] if narrowed.measures is None else narrowed.measures
    )
    traced, timed, worked = (
        tuple(cell for cell in candidates if measure in wanted and _judges(measure, cell))
        for measure in ("tracing", "timing", WORK)
    )
    compiled = (cell for cell in chosen if compiles_inside(cell) and cell not in traced)
    traced += tuple(compiled) if "tracing" in wanted else ()
    if narrowed.backends is None:
        worked = tuple(cell for cell in worked if BACKENDS[cell.backend].worked)
    # Traces say nothing about the machine code of calls, and calls take least: they come first.
    worked = tuple(sorted(worked, key=lambda cell: SCENARIOS[cell.scenario].family == "build"))
    if set(wanted) == {WORK}:
        groups = {}
    counted = tuple((name, tuple(group)) for name, group in groups.items())
    return Matrix(counted, traced, timed, worked)


def _judges(measure: Measure, cell: Cell) -> bool:
    """Whether a pass gives anything to compare: a time that only describes is not worth waiting."""
    return any(
        one.measure == measure and (one.kind != "noisy" or one.judged)
        for one in metrics_of(cell.scenario, cell.launch)
    )


@runtime_checkable
class BeginsAgain(Protocol):
    """What takes samples on workers that may die, so that one is begun again later than wanted."""

    def was_late(self, sample: Sample) -> bool:
        """Return whether a sample was begun again, on this worker or another one."""
        ...

    def place_of(self, sample: Sample) -> str:
        """Return the place that took a sample: times of two places make no pair."""
        ...

    def drop(self, sample: Sample) -> None:
        """Forget a sample that is taken again."""
        ...


@dataclass
class Interleaving:
    """Takes the samples of two sides; calls `began` and `ended` for each, from this thread."""

    executors: Mapping[SideName, TakesSamples]
    began: Callable[[Job], None]
    ended: Callable[[Job, Sample], None]
    workers: int
    order: random.Random
    """Decides which side of a pair comes first."""
    workers_of_work: int = 0
    """How many samples `work` takes at a time, if more than ``workers``: each is one process."""
    begins: Callable[[Sequence[Task], int, float], None] = lambda *_: None
    """Called when a step begins: with its tasks, of both sides, how many run at a time, and the
    deadline."""
    _longest: dict[tuple[Measure, str, str], float] = field(default_factory=dict)
    """By pass, scenario and backend, how many seconds a sample took at most."""

    def count(self, group: Sequence[Cell], deadline: float = math.inf) -> bool:
        """Fill the caches that are missing, and count each cell once on each side.

        No pair begins that would probably not end before ``deadline``, a time of `time.monotonic`:
        its samples take as long as the longest one so far of their pass, scenario and backend.
        Returns whether all pairs were taken.
        """
        return self._complete(plan(group, Rounds(timing=0, counting=1)), deadline, self.workers)

    def fill(self, chosen: Sequence[Cell]) -> None:
        """Fill the caches that are missing, for passes that start from them."""
        tasks = plan(chosen, Rounds(timing=0, counting=1))
        self._complete([task for task in tasks if task.keep], math.inf, self.workers)

    def work(
        self, chosen: Sequence[Cell], measure: Measure, rounds: range, deadline: float
    ) -> bool:
        """Take some rounds of the pass `work` or `tracing`, otherwise like `count`."""
        wanted = replace(Rounds(timing=0, counting=0), **{measure: rounds.stop})
        tasks = plan(chosen, wanted)
        chosen_tasks = [t for t in tasks if t.keep or t.round in rounds]
        return self._complete(chosen_tasks, deadline, max(self.workers, self.workers_of_work))

    def _complete(self, tasks: Sequence[Task], deadline: float, workers: int) -> bool:
        pending = deque[Task]()
        wanted = [task for task in tasks for side in SIDES if self._takes(side, task)]
        self.begins(wanted, workers, deadline)
        for filling in (True, False):
            pending.extend(task for task in tasks if (task.keep is not None) == filling)
            self._take(self._pairs(pending, self._shuffled(), deadline, workers), workers)
        return not pending

    def _pairs(
        self, pending: deque[Task], sides: Sequence[SideName], deadline: float, workers: int
    ) -> Iterator[Job]:
        """The jobs of pending tasks on both sides; a task is removed when its first job begins."""
        while pending and time.monotonic() + self._takes_about(pending[0], workers) < deadline:
            task = pending.popleft()
            for side in sides:
                if self._takes(side, task):
                    yield Job(side, task)

    def _takes_about(self, task: Task, workers: int) -> float:
        """How many seconds a pair will take, as far as earlier samples tell."""
        sides = sum(self._takes(side, task) for side in SIDES)  # none where both caches are filled
        return math.ceil(sides / workers) * self._longest.get(_kind(task), 0.0)

    def _takes(self, side: SideName, task: Task) -> bool:
        return task.keep is None or not self.executors[side].holds(task.keep)

    def repeat(self, chosen: Sequence[Cell], measure: Measure, rounds: int) -> None:
        """Count or trace cells on both sides, from the caches that `count` has filled."""
        tasks = [_repeat(cell, measure, number) for number in range(rounds) for cell in chosen]
        jobs = [Job(side, task) for task in with_imports(tasks) for side in self._shuffled()]
        self.begins([job.task for job in jobs], self.workers, math.inf)
        self._take(jobs, self.workers)

    def time(self, chosen: Sequence[Cell], rounds: int, deadline: float) -> bool:
        """Take ``rounds`` pairs of timing samples of each cell, one sample at a time.

        No pair begins after ``deadline``, a time of `time.monotonic`. Returns whether all pairs
        were taken.
        """
        once = [_repeat(cell, "timing", 0) for cell in chosen]
        self.begins(once * rounds * len(SIDES), 1, deadline)
        for number in range(rounds):
            for cell in chosen:
                if time.monotonic() >= deadline:
                    return False
                task = _repeat(cell, "timing", number)
                self._pair([Job(side, task) for side in self._shuffled()])
        return True

    def _pair(self, jobs: Sequence[Job]) -> None:
        """Take two samples one after the other, and both again if the second one was late.

        Minutes would lie between them in which the machine may have changed: a worker died, or the
        scheduler or this process was stopped. If the cluster is lost, neither counts.
        """
        second = self.executors[jobs[-1].side]
        if not isinstance(second, BeginsAgain):  # as on one machine
            self._take(jobs, 1)
            return
        taken: list[tuple[Job, Sample]] = []
        tried = 0
        while True:
            taken.clear()
            try:
                self._take(jobs, 1, ended=lambda *one: taken.append(one))
            except FleetError:  # the cluster is lost, and with it the other sample
                self._drop(taken)
                raise
            except BaseException:  # Ctrl-C among others; what was taken is kept, as on one machine
                self._end(() if self._split(taken) else taken)
                raise
            first, last = (sample for _, sample in taken)
            tried += 1
            if not self._split(taken) and (
                tried >= _PAIRS_TRIED or not (second.was_late(last) or _apart(first, last))
            ):
                break
            self._drop(taken)
        self._end(taken)

    def _end(self, taken: Iterable[tuple[Job, Sample]]) -> None:
        for one in taken:
            self.ended(*one)

    def _split(self, taken: Iterable[tuple[Job, Sample]]) -> bool:
        """Whether the samples of a pair are of two places, because the first one is lost."""
        places = set()
        for job, sample in taken:
            executor = self.executors[job.side]
            assert isinstance(executor, BeginsAgain), "both sides are on one fleet"
            places.add(executor.place_of(sample))
        return len(places) > 1

    def _drop(self, taken: Iterable[tuple[Job, Sample]]) -> None:
        for job, sample in taken:
            executor = self.executors[job.side]
            assert isinstance(executor, BeginsAgain), "both sides are on one fleet"
            executor.drop(sample)

    def _shuffled(self) -> list[SideName]:
        return self.order.sample(SIDES, len(SIDES))

    def _take(
        self, jobs: Iterable[Job], workers: int, ended: Callable[[Job, Sample], None] | None = None
    ) -> None:
        def take(job: Job) -> Sample:
            return self.executors[job.side].run(job.task)

        def end(job: Job, sample: Sample) -> None:
            kind = _kind(job.task)
            self._longest[kind] = max(self._longest.get(kind, 0.0), _took(sample))
            (ended or self.ended)(job, sample)

        def cancel() -> None:
            for executor in self.executors.values():
                executor.cancel()

        batch = Batch(iter(jobs), take, cancel, self.began, end, workers)
        carry_out([alone(batch)], workers)


def _kind(task: Task) -> tuple[Measure, str, str]:
    return task.measure, task.cell.scenario, task.cell.backend


def _apart(first: Sample, second: Sample) -> bool:
    """Whether much time lies between two samples that one machine took one after the other."""
    return second.started_at - first.started_at > timedelta(seconds=_took(first)) + _APART


def _took(sample: Sample) -> float:
    """How many seconds a sample took, without waiting for a worker; 0 if that is not known."""
    return 0.0 if sample.overhead is None else sample.overhead.total


def _repeat(cell: Cell, measure: Measure, number: int) -> Task:
    """A task that starts from the cache that `Interleaving.count` has filled, if it needs one."""
    return Task(cell, measure, number, cache=cache_of(cell, measure))
