"""The client's side of a cluster: its workers by place, and what they may take now."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client

from observatory.fleet import joining
from observatory.fleet import worker as remote
from observatory.fleet.crew import Crew
from observatory.fleet.fetching import clear, fetch, fetch_left
from observatory.fleet.newcomers import Newcomers, Party
from observatory.fleet.orders import BENCH
from observatory.fleet.preparing import Preparing, quarantined
from observatory.fleet.taking import Samples
from observatory.run.batches import GivesWay
from observatory.run.environments import Environment, EnvironmentMakingError
from observatory.run.fleets import FleetError
from observatory.run.local import hidden_from_git, measuring_lock
from observatory.run.placing import Placing
from observatory.run.spool import Session
from observatory.store.records.machine import Machine
from observatory.store.records.subject import Subject
from observatory.text.words import several

NONE = f"none has joined; start one with `dask worker ADDRESS --nthreads 1 --resources {BENCH}=1`"
_JOINING, _SETTLED = 60.0, 2.0
"""Seconds to wait for a first worker, and for another one since the last."""


@dataclass
class DaskFleet:
    """The workers of a cluster of Dask; see `observatory.run.fleets.Fleet`."""

    crew: Crew
    state: Path
    _untimed: dict[str, str] | None = None
    """By place, why its times are not trusted; None until the machines have been looked at."""
    _load: dict[str, float] = field(default_factory=dict)
    """What the placings of all subjects share."""
    _newcomers: Newcomers = field(init=False)
    _looked: set[str] = field(init=False)
    """The places that were there at the beginning, and those that were looked at since."""

    def __post_init__(self) -> None:
        """Let those that take samples welcome the workers that join."""
        self._newcomers = Newcomers(self.crew, self._look_at, self._join)
        self._looked = {*self.crew.sites}

    @property
    def workers(self) -> int:
        """The number of samples that it takes at a time."""
        return max(1, self.crew.number)

    @property
    def timed_at_once(self) -> int:
        """The number of places that times come from."""
        return max(1, len(self.crew.of_class()))

    def machine(self, own: Machine) -> Machine:
        """The machine of the class that times come from, with the name of ``own``."""
        one = self.crew.sites[self.crew.of_class()[0]].place.machine
        return one.model_copy(update={"machine": own.machine})

    def uncounted(self) -> str:
        """Why no worker counts instructions; empty if one does."""
        problems = [site.place.uncounted for site in self.crew.sites.values()]
        return "" if not all(problems) else problems[0]

    def counted_with(self) -> str:
        """What counts instructions at the places of the class that work comes from."""
        own = (self.crew.sites[name].place for name in self.crew.of_class())
        return next((place.counted_with for place in own if not place.uncounted), "")

    def untimed(self) -> str:
        """Why no worker takes times; empty if one does. The machines are looked at first."""
        found = self._quarantined()
        own = self.crew.of_class()
        if not all(name in found for name in own):
            return ""
        return "; ".join(f"{self.crew.sites[name].place.host}: {found[name]}" for name in own)

    def _quarantined(self) -> dict[str, str]:
        """The places whose machine is not as fast as it was, with the reason.

        This machine alone is not looked at: that is done by `observatory sentinel`.
        """
        own = self.crew.of_class()
        if self._untimed is None:
            away = not all(self.crew.sites[name].place.home for name in own)
            self._untimed = quarantined(self.crew, own if away else ())
        return self._untimed

    def _look_at(self, name: str) -> None:
        """Find out whether times of a place that has joined are trusted."""
        site = self.crew.sites[name]
        self._looked.add(name)
        if name in self.crew.of_class() and not site.place.home:
            self._untimed = (self._untimed or {}) | quarantined(self.crew, [name])

    def _join(self, placing: Placing, name: str) -> None:
        """Let a place take tasks."""
        site = self.crew.sites[name]
        placing.join(
            name, len(site.addresses), of_class=name in self.crew.of_class(),
            uncounted=site.place.uncounted, untimed=(self._untimed or {}).get(name, ""),
            host=site.place.host,
        )  # fmt: skip

    @contextlib.contextmanager
    def lock(self, say: Callable[[str], None]) -> Iterator[GivesWay | None]:
        """Hold this machine's lock for measuring, if workers of it take part."""
        boot = joining.boot_id()
        taken = any(site.place.boot == boot for site in self.crew.sites.values())
        self._newcomers.barred = "" if taken else boot
        if taken:
            with measuring_lock(say) as turn:
                yield turn
        else:
            yield None

    def placing(self) -> Placing:
        """A new plan of which chain of tasks goes where."""
        self._quarantined()
        for name in self.crew.sites.keys() - self._looked:
            if self.crew.sites[name].addresses:  # others are looked at when they join again
                self._look_at(name)
        placing = Placing({}, (), load=self._load)
        for name in self.crew.sites:
            self._join(placing, name)
        return placing

    @contextlib.contextmanager
    def samples(
        self,
        results: Path | None,
        run: str,
        machine: str,
        subject: Subject,
        environment: Environment,
        *,
        added: Sequence[str],
        pins: Mapping[str, str],
        caches: Path,
        placing: Placing,
        settings: Mapping[str, Any],
    ) -> Iterator[Samples]:
        """Prepare every place, and yield what takes samples there; see `Fleet.samples`."""
        preparing = Preparing(self.crew, self.state, subject, added, pins, environment, placing)
        there = [name for name, site in self.crew.sites.items() if site.addresses]
        for name in self.crew.sites.keys() - {*there}:  # until it is a newcomer
            placing.lose(name)
        preparing.at(there)
        if all(map(placing.is_left, self.crew.sites)):
            raise EnvironmentMakingError(
                f"no worker of the cluster can take a sample of {subject.label}"
            )
        session = Session(self.state, results)
        taking = Samples(
            self.crew, session.name, run, machine, preparing.recipe,
            str(caches.absolute().relative_to(self.state)), placing, dict(settings), {},
            self._newcomers.welcome, session.gives_up,
        )  # fmt: skip

        def ready(names: Iterable[str]) -> None:
            session.uses(name for name in names if not self.crew.sites[name].place.home)
            taking.recipe = preparing.recipe
            for name in names:
                if not placing.is_left(name):
                    self._filled_at(name, taking)

        def prepare(name: str) -> None:
            preparing.at([name])
            ready([name])

        ready(there)
        party = Party(placing, prepare)
        self._newcomers.parties.append(party)
        fetched = False
        try:
            yield taking
        finally:
            self._newcomers.parties.remove(party)
            try:
                fetched = fetch(
                    self.crew, self.state, session.name, results, taking.accepted, taking.owes
                )
            finally:
                session.end(fetched=fetched)

    def _filled_at(self, name: str, taking: Samples) -> None:
        """Note which filled caches are at a place; one that has joined again may have lost some."""
        try:
            found = self.crew.ask(name, remote.filled, taking.caches, name)
        except FleetError:
            taking.placing.lose(name)
            return
        for cache, at in list(taking.filled.items()):
            if at == name and cache not in found:
                taking.filled[cache] = ""
        for cache in found:
            taking.placing.pin(cache, name)
            taking.filled.setdefault(cache, name)

    def tidy(self, caches: Path) -> None:
        """Remove filled caches that lie on other machines than this one."""
        clear(self.crew, "", str(caches.absolute().relative_to(self.state)))

    def report(self) -> str:
        """What was repeated because workers or machines were lost; empty if nothing was."""
        words = {
            "again": "begun again",
            "recognised": "recorded already and not taken again",
            "resubmitted": "handed in again",
            "dropped": "taken again with the other one of their pair",
            "killed": "given up, because it ended its worker each time",
            "moved": "taken elsewhere, because no worker came back",
            "refilled": "taken again to fill a cache elsewhere",
        }
        counts = self.crew.counts
        parts = [
            f"{several(counts[one], 'sample')} {said}" for one, said in words.items() if counts[one]
        ]
        said = [f"workers or connections were lost: {', '.join(parts)}"] if parts else []
        if number := counts["refused"]:
            count = several(number, "sample")
            said.append(f"taken elsewhere, because a machine refused it: {count}")
        return "; ".join(said)


def gathered(
    client: Client, state: Path, cpu: str, each: int | None, say: Callable[[str], None]
) -> DaskFleet:
    """Prepare the workers of a cluster, and return the fleet that they are. Raises FleetError."""
    fleet = DaskFleet(joined(client, state, cpu, each, say), state)
    if not fleet.crew.number:
        raise FleetError(
            "no worker of the cluster can measure" + ("" if fleet.crew.refused else f": {NONE}")
        )
    fleet.crew.settle()
    fetch_left(fleet.crew, state)
    return fleet


def joined(
    client: Client, state: Path, cpu: str, each: int | None, say: Callable[[str], None]
) -> Crew:
    """Prepare the workers of a cluster, and wait until no other joins. Raises FleetError."""
    hidden_from_git(state)
    joining.give_token(state)
    plugin = joining.Bench(state, joining.token_of(state), joining.boot_id(), each)
    client.register_plugin(plugin)
    crew = Crew(client, cpu, say, plugin)
    until, settled, known = time.monotonic() + _JOINING, 0.0, -1
    while time.monotonic() < until:
        crew.refresh(now=True)
        count = len(crew.refused) + crew.number
        if count != known:
            known, settled = count, time.monotonic() + _SETTLED
        if known and time.monotonic() > settled:
            break
        time.sleep(0.2)
    return crew
