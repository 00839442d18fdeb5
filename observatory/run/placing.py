"""Where a task is taken: the one planner of a fleet. Pure.

A *place* is a machine, or what holds filled caches for some workers of it. Tasks that belong
together form a *chain*: the sample that fills a cache and all that start from it; of a comparison,
the samples of both sides. A chain is never split over places, so that a cache is read where it was
made, and the sides of a pair meet the same machine.

Exact counts may come from any place. Times and work come from places of one class, which have the
same model of CPU; so do the samples that fill caches, because these hold its machine code.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
