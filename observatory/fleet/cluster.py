"""The client's side of a cluster: its workers by place, and what they may take now."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client

from observatory.fleet import joining
from observatory.fleet import worker as remote
from observatory.fleet.crew import Crew
from observatory.fleet.orders import BENCH
from observatory.fleet.preparing import prepared, quarantined
from observatory.fleet.taking import Samples
from observatory.run import spool
from observatory.run.batches import GivesWay
from observatory.run.environments import Environment
from observatory.run.fleets import FleetError
from observatory.run.local import hidden_from_git, measuring_lock
from observatory.run.placing import Placing
from observatory.run.spool import Session, Spool
from observatory.store.base.problems import RecordError
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

    @contextlib.contextmanager
    def lock(self, say: Callable[[str], None]) -> Iterator[GivesWay | None]:
        """Hold this machine's lock for measuring, if workers of it take part."""
        boot = joining.boot_id()
        if any(site.place.boot == boot for site in self.crew.sites.values()):
            with measuring_lock(say) as turn:
                yield turn
        else:
            yield None

    def placing(self) -> Placing:
        """A new plan of which chain of tasks goes where."""
        sites = self.crew.sites
        return Placing(
            {name: len(site.addresses) for name, site in sites.items()},
            self.crew.of_class(),
            {name: one.place.uncounted for name, one in sites.items() if one.place.uncounted},
            self._quarantined(),
            hosts={name: site.place.host for name, site in sites.items()},
            load=self._load,
        )

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
        recipe = prepared(self.crew, self.state, subject, added, pins, environment, placing)
        under, filled = str(caches.absolute().relative_to(self.state)), dict[str, str]()
        for name in self.crew.sites:
            if not placing.is_left(name):
                for cache in self.crew.ask(name, remote.filled, under, name):
                    placing.pin(cache, name)
                    filled[cache] = name
        session = Session(self.state, results)
        elsewhere = [site.place.name for site in self.crew.sites.values() if not site.place.home]
        session.uses(elsewhere)
        taking = Samples(
            self.crew, session.name, run, machine, recipe, under, placing, dict(settings), filled
        )
        fetched = False
        try:
            yield taking
        finally:
            try:
                fetched = self._fetch(session.name, results, taking.accepted)
            finally:
                session.end(fetched=fetched)

    def fetch_left(self) -> None:
        """Merge what dead sessions of this directory STATE left on the workers' machines."""
        for name, owner in spool.left_behind(self.state):
            if set(owner.elsewhere) <= self.crew.sites.keys():
                try:
                    spool.check(owner)
                    if self._fetch(name, owner.results, set()):
                        spool.forget(self.state, name)
                except (OSError, RecordError) as error:
                    self.crew.say(spool.not_fetched(self.state, name, owner, error))
            else:
                self.crew.say(
                    f"samples of an interrupted run for {owner.results} may lie on machines that "
                    "take no part now; a run with them fetches these samples"
                )

    def _fetch(self, session: str, results: Path | None, accepted: set[str]) -> bool:
        """Merge what is recorded and nobody has accepted; whether every place was asked."""
        left, complete = [], True
        for name, site in self.crew.sites.items():
            if site.place.home:
                found = Spool.of(self.state, session).records()
            else:
                try:
                    found = self.crew.ask(name, remote.recorded, session, name)
                except FleetError as error:
                    self.crew.say(str(error))
                    complete = False
                    continue
            left += [content for key, content in found.items() if key not in accepted]
        if left:
            count, problems = spool.merge(left, results)
            complete = complete and not problems
            for problem in problems:
                self.crew.say(problem)
            if count:
                self.crew.say(
                    f"fetched from workers: {several(count, 'sample')} that they had recorded"
                )
        if complete:
            for name, site in self.crew.sites.items():
                if not site.place.home:
                    self.crew.ask(name, remote.clear, session, name)
        return complete

    def tidy(self, caches: Path) -> None:
        """Remove filled caches that lie on other machines than this one."""
        under = str(caches.absolute().relative_to(self.state))
        for name, site in self.crew.sites.items():
            if not site.place.home:
                self.crew.ask(name, remote.clear, "", name, under)

    def report(self) -> str:
        """What was repeated because workers died; empty if nothing was."""
        words = {
            "again": "begun again",
            "recognised": "recorded already and not taken again",
            "resubmitted": "handed in again",
            "dropped": "taken again with the other one of their pair",
            "killed": "given up, because it ended its worker each time",
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
    fleet.fetch_left()
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
