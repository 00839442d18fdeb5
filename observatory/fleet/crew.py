"""The workers of a cluster by place: which there are, and what each place does now."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from distributed import Client

from observatory.fleet import joining
from observatory.fleet.orders import Place
from observatory.run.fleets import FleetError

_LOOK = 1.0
"""Seconds between two looks at which workers there are."""
PATIENCE = 120.0
"""Seconds that a task waits for a worker of its place to come back."""


@dataclass
class Site:
    """A place, its workers, and what they do now."""

    place: Place
    addresses: list[str] = field(default_factory=list)
    cpus: tuple[int, ...] = ()
    """Those of all its workers."""
    generation: int = 0
    """Increases when none of its workers is left of those that it had."""
    running: int = 0
    alone: bool = False
    deserted: float = 0.0
    """When it was seen to have no worker left, by `time.monotonic`."""

    @property
    def deserted_for(self) -> float:
        """The seconds for which it has had no worker."""
        return 0.0 if self.addresses else time.monotonic() - self.deserted


@dataclass
class Crew:
    """All workers that may measure."""

    client: Client
    own: str
    """The class that times come from: a model of CPU; that of this machine if a worker has it."""
    say: Callable[[str], None]
    plugin: joining.Bench
    patience: float = PATIENCE
    sites: dict[str, Site] = field(default_factory=dict)
    workers: dict[str, Place] = field(default_factory=dict)
    """Every worker that has been prepared, by address; also those that may not measure."""
    refused: set[str] = field(default_factory=set)
    """Workers that were left out, at least for a while."""
    counts: Counter[str] = field(default_factory=Counter)
    """What was repeated: `DaskFleet.report` says what each word means."""
    changed: threading.Condition = field(default_factory=threading.Condition)
    """Held by whoever reads or changes what the places do."""
    _known: frozenset[str] = frozenset()
    _out: set[str] = field(default_factory=set)
    """Workers that may not measure now; each look asks them again."""
    _sharing: set[str] = field(default_factory=set)
    """Those of them whose CPU another worker owned first."""
    _looked: float = 0.0

    @property
    def number(self) -> int:
        """The number of workers."""
        return sum(len(site.addresses) for site in self.sites.values())

    def settle(self) -> None:
        """Choose the class that times come from: that of this machine, else of the most workers.

        It stays, whoever comes and goes: no time of another class is recorded beside its own.
        """
        models: dict[str, int] = Counter()
        for site in self.sites.values():
            models[site.place.machine.cpu] += len(site.addresses)
        if self.own not in models:
            self.own = max(models, key=lambda one: models[one])

    def of_class(self) -> list[str]:
        """The places that times come from."""
        return [n for n, site in self.sites.items() if site.place.machine.cpu == self.own]

    def ask(self, name: str, function: Callable[..., Any], *args: object) -> Any:
        """Call a function in one worker of a place; raise FleetError if none answers."""
        for address in list(self.sites[name].addresses):
            try:
                found = self.client.run(function, *args, workers=[address], on_error="return")
            except (OSError, TimeoutError):
                continue
            if address in found and not isinstance(found[address], OSError):
                if isinstance(found[address], Exception):
                    raise found[address]
                return found[address]
        raise FleetError(f"no worker of {self.sites[name].place.host} answers")

    def refresh(self, *, now: bool = False) -> None:
        """Look which workers there are, at most once a second. Raises FleetError."""
        with self.changed:
            if not now and time.monotonic() - self._looked < _LOOK:
                return
            self._looked = time.monotonic()
        try:
            there = self._there()
            if there == self._known and not now and not self._out:
                return
            places = self.client.run(
                joining.standing, self.plugin.name, workers=list(there), on_error="ignore"
            )
            workers = self._apart({one: place for one, place in places.items() if place})
        except (OSError, TimeoutError, RuntimeError) as error:
            raise FleetError(f"{lost()} ({error})") from error
        with self.changed:
            self.workers = workers
            self._known = frozenset(self.workers)
            self._out.clear()
            joined = dict[str, list[str]]()
            for address, place in self.workers.items():
                if self._may_measure(address, place):
                    if place.name not in self.sites:  # others may go through the old ones
                        self.sites = {**self.sites, place.name: Site(place)}
                    joined.setdefault(place.name, []).append(address)
            for name, site in self.sites.items():
                self._note(site, joined.get(name, []))
            self.changed.notify_all()

    def _there(self) -> frozenset[str]:
        """The addresses of all workers that the scheduler knows; if it is away, of the last look.

        `Client.scheduler_info` may list none, if the client's own look, which asks for no worker,
        comes in between: all tasks would be handed in again.
        """
        scheduler = self.client.scheduler
        if scheduler is None:
            return self._known
        try:
            return frozenset(self.client.sync(scheduler.identity, n_workers=-1)["workers"])
        except OSError:  # the client connects anew, or says later that it cannot
            return self._known

    def _apart(self, workers: Mapping[str, Place]) -> dict[str, Place]:
        """The workers, those that share a CPU with a problem; Dask gives these nothing more."""
        found = apart(workers)
        sharing = {one for one, place in found.items() if place.problem != workers[one].problem}
        # Each time, because who joins again has its resource again.
        for one in sharing | (self._sharing & found.keys()):
            number = 0 if one in sharing else 1
            self.client.run(joining.let, found[one].name, number, workers=[one], on_error="ignore")
        self._sharing = sharing
        return dict(sorted(found.items()))

    def _may_measure(self, address: str, place: Place) -> bool:
        if not place.problem:
            return True
        if address not in self.refused:
            self.say(f"the worker {address} on {place.host} is left out: {place.problem}")
        self.refused.add(address)
        self._out.add(address)
        return False

    def _note(self, site: Site, addresses: list[str]) -> None:
        """Note the workers of a place; others read each field without the lock."""
        if addresses and not {*site.addresses} & {*addresses}:
            site.generation += 1
        if site.addresses and not addresses:
            site.deserted = time.monotonic()
        site.cpus = tuple(sorted({cpu for one in addresses for cpu in self.workers[one].cpus}))
        site.addresses = addresses


def apart(workers: Mapping[str, Place]) -> dict[str, Place]:
    """The workers by address; of those that own the same CPU, only the first owner may measure.

    A claim keeps workers of one machine apart, but not containers that have a `/dev/shm` each. All
    clients of a scheduler decide alike.
    """
    found, owners = dict[str, Place](), dict[tuple[str, int], str]()
    for address, place in sorted(workers.items(), key=lambda one: (one[1].since, one[0])):
        found[address] = place
        if place.problem:
            continue
        if shared := [cpu for cpu in place.cpus if (place.boot, cpu) in owners]:
            other = owners[place.boot, shared[0]]
            problem = f"it shares CPU {shared[0]} with the worker {other}; give each its own CPU"
            found[address] = replace(place, problem=problem)
        else:
            owners |= {(place.boot, cpu): address for cpu in place.cpus}
    return found


def lost() -> str:
    """What is said when the scheduler does not answer."""
    return (
        "the cluster is lost: its scheduler does not answer; what was recorded is kept, and "
        "`observatory run` continues with --resume"
    )
