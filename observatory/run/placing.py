"""Where a task is taken: the one planner of a fleet. Pure.

A *place* is a machine, or what holds filled caches for some workers of it. Tasks that belong
together form a *chain*: the sample that fills a cache and all that start from it; of a comparison,
the samples of both sides. A chain is never split over places, so that a cache is read where it was
made, and the sides of a pair meet the same machine. If its place is lost, all that is left of it
moves to another one.

Exact counts may come from any place. Times and work come from places of one class, which have the
same model of CPU; so do the samples that fill caches, because these hold its machine code.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from observatory.benchmarks.plan import Task
from observatory.run.schedule import expected_seconds

OF_CLASS = frozenset({"timing", "work"})
"""The passes whose values are comparable only with those of the same CPU."""


class NoPlaceError(Exception):
    """No place can take a task; the message says what each lacks."""


def chain_of(task: Task) -> str:
    """The name of a task's chain: of the cache that it fills or starts from, or of its cell."""
    return task.keep or task.cache or str(task.cell)


def needs_class(task: Task) -> bool:
    """Whether a task must be taken on the class of machines that times come from."""
    return task.measure in OF_CLASS or _cached(task)


def _cached(task: Task) -> bool:
    return task.keep is not None or task.cache is not None


@dataclass
class Placing:
    """Gives each chain a place when its first task comes, so that all have as much to do.

    Several threads may ask it, also those of both sides of a comparison.
    """

    workers: Mapping[str, int]
    """The number of workers of each place."""
    of_class: Collection[str]
    """The places of the class that times come from."""
    uncounted: Mapping[str, str] = field(default_factory=dict)
    """The places that cannot count instructions, with the reason."""
    untimed: Mapping[str, str] = field(default_factory=dict)
    """The places whose times are not trusted now, with the reason."""
    hosts: Mapping[str, str] = field(default_factory=dict)
    """What messages call a place; by default its name."""
    load: dict[str, float] = field(default_factory=dict)
    """The expected seconds of what each place was given; subjects measured at once share it."""
    _left: dict[str, str] = field(default_factory=dict)
    """The places that take nothing any more, with the reason."""
    _of: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def pin(self, chain: str, place: str) -> None:
        """Keep a chain at the place that has its cache already."""
        with self._lock:
            self._of.setdefault(chain, place)

    def leave(self, place: str, why: str) -> None:
        """Give a place no further task; its chains begin again elsewhere."""
        with self._lock:
            self._left[place] = why
            self._move_from(place)

    def is_left(self, place: str) -> bool:
        """Whether a place gets no further task."""
        return place in self._left

    def lose(self, place: str) -> bool:
        """Give a place no task until it joins again, and return whether it had workers before.

        Its chains begin again elsewhere.
        """
        with self._lock:
            had = self.has(place)
            self.workers = {**self.workers, place: 0}
            self._move_from(place)
            return had

    def has(self, place: str) -> bool:
        """Whether a place has joined, and is neither lost nor left."""
        return bool(self.workers.get(place)) and not self.is_left(place)

    def join(
        self,
        place: str,
        workers: int,
        *,
        of_class: bool,
        uncounted: str = "",
        untimed: str = "",
        host: str = "",
    ) -> None:
        """Let a place take tasks from now on; the fields of this class say what is meant."""
        with self._lock:
            # New ones, because others may read the old ones without the lock.
            self.of_class = {*self.of_class, place} if of_class else self.of_class
            self.uncounted = _with(self.uncounted, place, uncounted)
            self.untimed = _with(self.untimed, place, untimed)
            self.hosts = _with(self.hosts, place, host)
            # What was done before it came is not its to make up for: the others would wait.
            busy = [self._busy(one) for one in self.workers if self.has(one)]
            self.load.setdefault(place, min(busy, default=0.0) * workers)
            self.workers = {**self.workers, place: workers}

    def _move_from(self, place: str) -> None:
        self._of = {chain: at for chain, at in self._of.items() if at != place}

    def place_of(self, task: Task) -> str:
        """The place of a task's chain. Raises NoPlaceError."""
        with self._lock:
            chain = chain_of(task)
            place = self._of.get(chain)
            # Counts of a cell without a cache may be from where no time of it can come from.
            if place is None or (not _cached(task) and self._lacks(place, task)):
                able = [place for place in self.workers if not self._lacks(place, task)]
                if not able:
                    raise NoPlaceError(self._nobody(task))
                # Filled caches are machine code, which times may start from: the trusted first.
                trusted = [place for place in able if place not in self.untimed]
                if needs_class(task) and trusted:
                    able = trusted
                place = self._of[chain] = min(able, key=self._busy)
            if lack := self._lacks(place, task):
                raise NoPlaceError(
                    f"the filled cache that it starts from is on {self._host(place)}, "
                    f"but there {lack}"
                )
            self.load[place] = self.load.get(place, 0.0) + expected_seconds(task)
            return place

    def _busy(self, place: str) -> float:
        return self.load.get(place, 0) / self.workers[place]

    def _lacks(self, place: str, task: Task) -> str:
        """Why a place cannot take a task, as half a sentence; empty if it can."""
        if place in self._left:
            return self._left[place]
        if not self.workers.get(place):
            return "there is no worker"
        if needs_class(task) and place not in self.of_class:
            return "the CPU differs from that of the machines that take times and work"
        if task.measure == "work" and place in self.uncounted:
            return f"nothing counts instructions ({self.uncounted[place]})"
        if task.measure == "timing" and place in self.untimed:
            return f"times are not trusted ({self.untimed[place]})"
        return ""

    def _nobody(self, task: Task) -> str:
        lacks = [f"on {self._host(place)} {self._lacks(place, task)}" for place in self.workers]
        return f"no worker of the cluster can take it: {'; '.join(lacks) or 'there is none'}"

    def _host(self, place: str) -> str:
        return self.hosts.get(place, place)


def _with(reasons: Mapping[str, str], place: str, text: str) -> dict[str, str]:
    """What is said of each place, with that of another one; an empty text says nothing."""
    return {name: said for name, said in {**reasons, place: text}.items() if said}


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
        placing = Placing(dict.fromkeys(names, 1), names)
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
