"""Where a task is taken: the one planner of a fleet. Pure.

A *place* is a machine, or what holds filled caches for some workers of it. Tasks that belong
together form a *chain*: the sample that fills a cache and all that start from it; of a comparison,
the samples of both sides. A chain is never split over places, so that a cache is read where it was
made, and the sides of a pair meet the same machine.

Exact counts may come from any place. Times and work come from places of one class, which have the
same model of CPU; so do the samples that fill caches, because these hold its machine code.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from observatory.benchmarks.plan import Task
from observatory.run.schedule import expected_seconds

OF_CLASS = frozenset({"timing", "work"})
"""The passes whose values are comparable only with those of the same CPU."""


class NoPlaceError(Exception):
    """No place can take a task; the message says what it needs."""


def chain_of(task: Task) -> str:
    """The name of a task's chain: of the cache that it fills or starts from, or of its cell."""
    return task.keep or task.cache or str(task.cell)


def needs_class(task: Task) -> bool:
    """Whether a task must be taken on the class of machines that times come from."""
    return task.measure in OF_CLASS or task.keep is not None or task.cache is not None


@dataclass
class Placing:
    """Gives each chain a place when its first task comes, so that all have as much to do."""

    workers: Mapping[str, int]
    """The number of workers of each place."""
    of_class: Collection[str]
    """The places of the class that times come from."""
    count_work: Collection[str]
    """The places that can count instructions."""
    _of: dict[str, str] = field(default_factory=dict)
    _load: dict[str, float] = field(default_factory=dict)

    def pin(self, chain: str, place: str) -> None:
        """Keep a chain at the place that has its cache already."""
        self._of.setdefault(chain, place)

    def place_of(self, task: Task) -> str:
        """The place of a task's chain. Raises NoPlaceError."""
        chain = chain_of(task)
        if chain not in self._of:
            able = [
                place
                for place, number in self.workers.items()
                if number
                and (place in self.of_class or not needs_class(task))
                and (place in self.count_work or task.measure != "work")
            ]
            if not able:
                needs = "counts instructions" if task.measure == "work" else "has the wanted CPU"
                raise NoPlaceError(f"no worker of the cluster {needs}")
            self._of[chain] = min(able, key=lambda one: self._load.get(one, 0) / self.workers[one])
        place = self._of[chain]
        self._load[place] = self._load.get(place, 0.0) + expected_seconds(task)
        return place


@dataclass(frozen=True)
class Shard:
    """One of several parts of a plan that jobs without a connection take, such as a matrix's."""

    number: int
    """From 1."""
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def tasks(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the tasks of this part: whole chains, so that each part fills its own caches.

        Parts may be taken on different CPUs. So all times and work, with what shares a cache with
        them, are in the first part; the longest of the other chains are given away first.
        """
        names = [str(number) for number in range(1, self.of + 1)]
        placing = Placing(dict.fromkeys(names, 1), names, names)
        first = {chain_of(task) for task in tasks if task.measure in OF_CLASS}
        seconds: dict[str, float] = defaultdict(float)
        for task in tasks:
            seconds[chain_of(task)] += expected_seconds(task)
        for chain in sorted(first):
            placing.pin(chain, names[0])

        def order(task: Task) -> tuple[bool, float, str]:
            chain = chain_of(task)
            return chain not in first, -seconds[chain], chain

        places = {chain_of(task): placing.place_of(task) for task in sorted(tasks, key=order)}
        return [task for task in tasks if places[chain_of(task)] == str(self.number)]


def shard_of(text: str) -> Shard:
    """Read ``2/4``. Raises ValueError, whose message says what is wrong."""
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal()) or not 1 <= int(number) <= int(of):
        raise ValueError(f"{text!r} is no part of a plan; write 2/4 for the second of four")
    return Shard(int(number), int(of))


def missing(names: Sequence[str]) -> list[str]:
    """Name the parts that are not there, of directories that are called ``NAME-2-of-4``.

    >>> missing(["night-1-of-3", "night-3-of-3", "other"])
    ['night-2-of-3']
    """
    found: dict[tuple[str, int], set[int]] = {}
    for name in names:
        if one := re.fullmatch(r"(.+)-(\d{1,4})-of-(\d{1,4})", name):
            found.setdefault((one[1], int(one[3])), set()).add(int(one[2]))
    return [
        f"{name}-{number}-of-{of}"
        for (name, of), there in sorted(found.items())
        for number in range(1, of + 1)
        if number not in there
    ]
