"""Taking the samples of a subject on a fleet: where each is taken, and what is returned.

A sample whose machine is lost, as pods and cloud nodes are, or which its machine refuses, is taken
elsewhere under a new key. What is recorded under the old one is never fetched, so that no sample is
recorded twice if the machine comes back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from observatory.benchmarks.messages import Failure
from observatory.benchmarks.plan import Task, filler_of
from observatory.fleet import joining
from observatory.fleet.crew import Crew, Site
from observatory.fleet.handing import DesertedError, Handing
from observatory.fleet.orders import NotTakenError, Order, Recipe, Taken
from observatory.run.environments import EnvironmentMakingError
from observatory.run.execute import without_record
from observatory.run.fleets import FleetError
from observatory.run.interpreters import NoInterpreterError
from observatory.run.placing import OF_CLASS, NoPlaceError, Placing
from observatory.run.spool import Spooled
from observatory.store.base.strict_json import read_json
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Sample

_KILLED = Failure(
    message="its worker died each time that this sample was tried", signal="SIGKILL",
    exit_code=None, stderr=(),
)  # fmt: skip
_LOST = 3
"""How many machines may be lost while they take one sample: it may be what ends them."""


@dataclass
class Samples:
    """Takes samples of one subject; `run` is called from as many threads as there are workers."""

    crew: Crew
    session: str
    run_id: str
    machine: str
    recipe: Recipe
    caches: str
    placing: Placing
    settings: dict[str, Any]
    filled: dict[str, str]
    """The caches that are filled, and at which place; empty if they are gone from there."""
    welcome: Callable[[], bool] = lambda: False
    """Begins to prepare places that have joined; returns whether one is being prepared."""
    give_up: Callable[[str], None] = lambda _: None
    """Notes that what is recorded under a key is not fetched, also if this process is killed."""
    accepted: set[str] = field(default_factory=set)
    """The keys of the samples that somebody records or drops. Others are fetched in the end: Ctrl-C
    may come after `run` returned a sample, as between the two of a pair."""
    _returned: dict[int, tuple[str, Machine]] = field(default_factory=dict)
    """The key and the machine of each sample that `run` returned, until somebody accepts it."""
    _ordered: dict[str, str] = field(default_factory=dict)
    """The place at which each key was handed in."""
    _filling: dict[str, threading.Lock] = field(default_factory=dict)
    """By cache, held by who fills it again."""
    _late: set[int] = field(default_factory=set)
    """The samples that were begun again, by id, until somebody accepts them."""
    _filled_well: set[str] = field(default_factory=set)
    """The caches that samples of this session filled without an error."""
    _numbers: Iterator[int] = field(default_factory=count)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _handing: Handing = field(init=False)

    def __post_init__(self) -> None:
        """Hand the orders of this session in."""
        self._handing = Handing(self.crew, self.session, self.welcome)

    def holds(self, cache: str) -> bool:
        """Whether a filled cache is at the place where its chain is."""
        return cache in self.filled

    def machine_of(self, sample: Sample) -> Machine:
        """The machine that took a sample which `run` returned and nobody has accepted yet."""
        return self._returned[id(sample)][1]

    def place_of(self, sample: Sample) -> str:
        """The place that took a sample which `run` returned and nobody has accepted yet."""
        return self._ordered[self._returned[id(sample)][0]]

    def owes(self, place: str) -> bool:
        """Whether a place may have recorded a sample that nobody has accepted."""
        return any(
            at == place and key not in self.accepted for key, at in list(self._ordered.items())
        )

    def accept(self, sample: Sample) -> None:
        """Note that a sample is in a journal, or is dropped: it is not fetched in the end."""
        self._late.discard(id(sample))
        key, _ = self._returned.pop(id(sample))
        self.accepted.add(key)

    def was_late(self, sample: Sample) -> bool:
        """Whether a sample that `run` returned was begun again, after its worker had died."""
        return id(sample) in self._late

    def drop(self, sample: Sample) -> None:
        """Forget a sample that `run` returned: it is taken again with the other one of its pair."""
        self.accept(sample)
        self._count("dropped")

    def cancel(self) -> None:
        """End the samples that are running, and start no other."""
        self._handing.cancel()

    def run(self, task: Task) -> Sample:
        """Take a sample where its chain is, and elsewhere if that place is lost or refuses it.

        Raises Cancelled, and FleetError if no place is left that may take it.
        """
        return self._run(task, again=False)

    def _run(self, task: Task, *, again: bool) -> Sample:
        """Take a sample; ``again``: only for the cache that it fills, as it was recorded before."""
        lost = 0
        while True:
            name = self._place_of(task)
            if not self._is_filled(task, name):
                continue  # meanwhile, its chain may have moved
            key = self._key_of(task)
            if again:
                self._forsake(key)
            try:
                with self._handing.slot(name, alone=task.measure == "timing") as site:
                    order = self._order(task, key, name, site)
                    self._ordered[key] = name
                    found, attempts = self._handing.take(order, site)
                    break
            except DesertedError:
                self._lose(name)
                if key in self._ordered:
                    # It may be recorded there, and the machine may come back.
                    self._forsake(key)
                    lost += 1
                    self._count("moved")
                if lost == _LOST:
                    raise self._lost_with(task) from None
            except (EnvironmentMakingError, NoInterpreterError, NotTakenError) as error:
                self._forsake(key)
                self._refused(name, error)
                if task.measure in OF_CLASS:  # the other sample of its pair may be from here
                    raise FleetError(
                        f"{task.cell} {task.measure}: {self._host(name)} refuses the sample "
                        f"({error}); what was recorded is kept; start the command again "
                        "(`run`: with --resume)"
                    ) from error
        sample = self._sample(task, key, site, found)
        if found is not None and not found.recognised and (found.begun > 1 or attempts > 1):
            self._late.add(id(sample))
        return sample

    def _key_of(self, task: Task) -> str:
        with self._lock:
            number = next(self._numbers)
        words = f"{task.cell} {task.measure} {task.round}".replace(" ", "-")
        return f"{number:04}-{words}"

    def _order(self, task: Task, key: str, name: str, site: Site) -> Order:
        settings = dict(self.settings)
        timeout = settings.pop("timeout")
        return Order(
            self.session, key, self.run_id, task, self.recipe, name, joining.boot_id(),
            self.machine, self.caches, timeout, site.cpus, settings,
            filled=task.cache in self._filled_well,
        )  # fmt: skip

    def _place_of(self, task: Task) -> str:
        """The place of a task; while one may come that can take it, it is waited for."""
        while True:
            self._handing.look()
            try:
                return self.placing.place_of(task)
            except NoPlaceError as error:
                if not self._may_come():
                    raise FleetError(self._nowhere(task, error)) from error
            with self.crew.changed:
                self.crew.changed.wait(1.0)

    def _may_come(self) -> bool:
        """Whether a place is being prepared, or one that was deserted is still waited for."""
        return self.welcome() or any(
            not site.addresses
            and site.deserted_for < self.crew.patience
            and not self.placing.is_left(name)
            for name, site in self.crew.sites.items()
        )

    def _is_filled(self, task: Task, name: str) -> bool:
        """Whether the cache that a task starts from is where it should be.

        If it was filled at a place that is lost or left, it is filled again where its chain is now.
        """
        cache = task.cache
        if cache is None:
            return True
        with self._lock:
            alone = self._filling.setdefault(cache, threading.Lock())
        with alone:  # who comes later starts from it
            if self.filled.get(cache, name) == name:
                return True
            with self._lock:
                # If the sample that fills it fails, those that start from it say so.
                del self.filled[cache]
                self._filled_well.discard(cache)
            self.accept(self._run(filler_of(task), again=True))
            self._count("refilled")
        return False

    def _lose(self, name: str) -> None:
        """Let the chains of a place begin again elsewhere, until it joins anew."""
        if self.placing.lose(name):
            self.crew.say(f"no worker has come back to {self._host(name)}: others take its tasks")

    def _forsake(self, key: str) -> None:
        self.accepted.add(key)
        self.give_up(key)

    def _count(self, what: str) -> None:
        with self._lock:
            self.crew.counts[what] += 1

    def _host(self, name: str) -> str:
        return self.crew.sites[name].place.host

    def _nowhere(self, task: Task, error: NoPlaceError) -> str:
        gone = [one.place.host for one in self.crew.sites.values() if not one.addresses]
        text = f"{task.cell} {task.measure}: {error}"
        if not gone:
            return text
        return (
            f"no worker is left on {' and '.join(gone)}; {text}; what was recorded is kept, and "
            "`observatory run` continues with --resume"
        )

    def _lost_with(self, task: Task) -> FleetError:
        return FleetError(
            f"{_LOST} machines were lost while they took {task.cell} {task.measure}, which may "
            "need more memory than they have; what was recorded is kept, and `observatory run` "
            "continues with --resume"
        )

    def _refused(self, name: str, error: Exception) -> None:
        """A machine whose environment is not the client's takes no further sample."""
        if not self.placing.is_left(name):
            self.crew.say(f"{self._host(name)} takes no further sample: {error}")
        self.placing.leave(name, str(error))
        self._count("refused")

    def _sample(self, task: Task, key: str, site: Site, found: Taken | None) -> Sample:
        """The sample that a worker recorded; one that says that it was killed, if none did."""
        if found is None:
            self._count("killed")
            sample = without_record(task, datetime.now(UTC), _KILLED, "killed")
            machine = site.place.machine.model_copy(update={"machine": self.machine})
            self._returned[id(sample)] = key, machine
            return sample
        with self._lock:
            self.crew.counts["again"] += found.begun > 1
            self.crew.counts["recognised"] += found.recognised
            if task.keep:
                self.filled[task.keep] = site.place.name
        record = read_json(Spooled, found.record)
        if task.keep and record.sample.status == "ok":
            self._filled_well.add(task.keep)
        self._returned[id(record.sample)] = key, record.header.machine
        return record.sample
