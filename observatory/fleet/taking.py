"""Taking samples on a fleet: one task of Dask is one sample, and a worker has one at a time."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from distributed import Future, KilledWorker
from distributed.client import FutureCancelledError

from observatory.benchmarks.messages import Failure
from observatory.benchmarks.plan import Task
from observatory.fleet import joining
from observatory.fleet import worker as remote
from observatory.fleet.crew import Crew, Site
from observatory.fleet.orders import BENCH, NotTakenError, Order, Recipe, Taken
from observatory.run.environments import EnvironmentMakingError
from observatory.run.execute import Cancelled, without_record
from observatory.run.fleets import FleetError
from observatory.run.interpreters import NoInterpreterError
from observatory.run.placing import OF_CLASS, NoPlaceError, Placing
from observatory.run.spool import Spooled
from observatory.store.base.strict_json import read_json
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Sample

_RESUBMITTED = 5
"""How many times a task is handed in again that the scheduler has lost."""

_KILLED = Failure(
    message="its worker died each time that this sample was tried", signal="SIGKILL",
    exit_code=None, stderr=(),
)  # fmt: skip
_ENDING = 20.0
"""Seconds that a cancelled run waits for a worker to end its sample."""


_FETCHED = 30.0
"""Seconds in which the record of a sample that has ended is fetched from its worker."""
_RELEASED = 0.05
"""Seconds after which the scheduler may forget a task that has ended."""


class _UnseenError(Exception):
    """All workers of a place were replaced, or the one that holds a record ended.

    Dask gives a task that no worker could take to none that joins without its resource, which a
    worker gets only after it has joined. And if a worker ends while its result is fetched, Dask
    says that it reschedules the key, but sometimes waits for it for ever.
    """


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
    """The caches that are filled, and at which place."""
    accepted: set[str] = field(default_factory=set)
    """The keys of the samples that somebody records or drops. Others are fetched in the end: Ctrl-C
    may come after `run` returned a sample, as between the two of a pair."""
    _machines: dict[int, tuple[str, Machine]] = field(default_factory=dict)
    """The key and the machine of each sample that `run` returned, until somebody accepts it."""
    _late: set[int] = field(default_factory=set)
    """The samples that were begun again, by id, until somebody accepts them."""
    _filled_well: set[str] = field(default_factory=set)
    """The caches that samples of this session filled without an error."""
    _numbers: Iterator[int] = field(default_factory=count)
    _cancelled: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def holds(self, cache: str) -> bool:
        """Whether a filled cache is at the place where its chain is."""
        return cache in self.filled

    def machine_of(self, sample: Sample) -> Machine:
        """The machine that took a sample which `run` returned and nobody has accepted yet."""
        return self._machines[id(sample)][1]

    def accept(self, sample: Sample) -> None:
        """Note that a sample is in a journal, or is dropped: it is not fetched in the end."""
        self._late.discard(id(sample))
        key, _ = self._machines.pop(id(sample))
        self.accepted.add(key)

    def was_late(self, sample: Sample) -> bool:
        """Whether a sample that `run` returned was begun again, after its worker had died."""
        return id(sample) in self._late

    def drop(self, sample: Sample) -> None:
        """Forget a sample that `run` returned: it is taken again with the other one of its pair."""
        self.accept(sample)
        with self._lock:
            self.crew.counts["dropped"] += 1

    def run(self, task: Task) -> Sample:
        """Take a sample where its chain is. Raises Cancelled and FleetError."""
        with self._lock:
            number = next(self._numbers)
        words = f"{task.cell} {task.measure} {task.round}".replace(" ", "-")
        key = f"{number:04}-{words}"
        while True:
            name = self._place_of(task)
            with self._slot(name, alone=task.measure == "timing") as site:
                settings = dict(self.settings)
                timeout = settings.pop("timeout")
                order = Order(
                    self.session, key, self.run_id, task, self.recipe, name, joining.boot_id(),
                    self.machine, self.caches, timeout, site.cpus, settings,
                    filled=task.cache in self._filled_well,
                )  # fmt: skip
                try:
                    found, attempts = self._take(order, site)
                except (EnvironmentMakingError, NoInterpreterError, NotTakenError) as error:
                    self._refused(name, site, error)
                    if task.measure in OF_CLASS:  # the other sample of its pair may be from here
                        raise FleetError(
                            f"{task.cell} {task.measure}: {site.place.host} refuses the sample "
                            f"({error}); what was recorded is kept; start the command again "
                            "(`run`: with --resume)"
                        ) from error
                else:
                    break
        sample = self._returned(task, key, name, site, found)
        if found is not None and not found.recognised and (found.begun > 1 or attempts > 1):
            self._late.add(id(sample))
        return sample

    def _place_of(self, task: Task) -> str:
        """The place of a task, where the filled cache is that it starts from."""
        try:
            name = self.placing.place_of(task)
        except NoPlaceError as error:
            raise FleetError(f"{task.cell} {task.measure}: {error}") from error
        with self._lock:
            at = self.filled.get(task.cache or "", name)
        if at != name:
            raise FleetError(
                f"{task.cell} {task.measure}: the filled cache that it starts from is on "
                f"{self.crew.sites[at].place.host}, which takes no sample any more; start the "
                "command again, `run` with --resume, to fill another one elsewhere"
            )
        return name

    def _refused(self, name: str, site: Site, error: Exception) -> None:
        """A machine whose environment is not the client's takes no further sample."""
        if not self.placing.is_left(name):
            self.crew.say(f"{site.place.host} takes no further sample: {error}")
        self.placing.leave(name, str(error))
        with self._lock:
            self.crew.counts["refused"] += 1

    def _returned(
        self, task: Task, key: str, name: str, site: Site, found: Taken | None
    ) -> Sample:  # fmt: skip
        """The sample that a worker recorded; one that says that it was killed, if none did."""
        if found is None:
            self.crew.counts["killed"] += 1
            sample = without_record(task, datetime.now(UTC), _KILLED, "killed")
            machine = site.place.machine.model_copy(update={"machine": self.machine})
            self._machines[id(sample)] = key, machine
            return sample
        with self._lock:
            self.crew.counts["again"] += found.begun > 1
            self.crew.counts["recognised"] += found.recognised
            if task.keep:
                self.filled[task.keep] = name
        record = read_json(Spooled, found.record)
        if task.keep and record.sample.status == "ok":
            self._filled_well.add(task.keep)
        self._machines[id(record.sample)] = key, record.header.machine
        return record.sample

    def cancel(self) -> None:
        """End the samples that are running, and start no other."""
        self._cancelled = True
        with self.crew.changed:
            self.crew.changed.notify_all()
        with contextlib.suppress(Exception):  # whoever cancels may have lost the cluster
            self.crew.client.run(remote.stop, self.session, on_error="ignore", wait=False)

    @contextlib.contextmanager
    def _slot(self, name: str, *, alone: bool) -> Iterator[Site]:
        """Wait until a worker of a place is free, or all of them are for a sample taken alone."""
        crew, waited = self.crew, time.monotonic()
        site = crew.sites[name]
        with crew.changed:
            while site.alone or site.running >= (1 if alone else len(site.addresses)):
                if self._cancelled:
                    raise Cancelled
                crew.changed.wait(1.0)
                if site.addresses:  # busy, and not gone
                    waited = time.monotonic()
                self._give_up_if_deserted(site, waited)
            site.running += 1
            site.alone = alone
        try:
            yield site
        finally:
            with crew.changed:
                site.running -= 1
                site.alone = False
                crew.changed.notify_all()

    def _take(self, order: Order, site: Site) -> tuple[Taken | None, int]:
        """What a worker recorded, and how often it was handed in.

        None if the sample ended its worker as often as is allowed.
        """
        why = ""
        for attempt in range(_RESUBMITTED):
            if self._cancelled:
                raise Cancelled
            future = self.crew.client.submit(
                remote.take, order, key=f"{order.session}-{order.key}-{attempt}", pure=False,
                resources={BENCH: 1, site.place.resource: 1},
            )  # fmt: skip
            try:
                taken = self._wait(future, site)
                return (taken if taken.record else None), attempt + 1
            except KilledWorker:
                return None, attempt + 1
            except _UnseenError as error:
                future.cancel()
                self.crew.counts["resubmitted"] += 1
                why = str(error)
            except (CancelledError, FutureCancelledError, OSError) as error:
                if self._cancelled:
                    raise Cancelled from None
                # The connection to the scheduler was cut, and the task with it. Whatever has become
                # of it, the next one with this key recognises what is recorded.
                self.crew.counts["resubmitted"] += 1
                why = str(error)[:500]
                self.crew.refresh(now=True)
            finally:
                self._release_later(future)
        raise FleetError(
            f"the cluster has lost the sample {order.key} {_RESUBMITTED} times"
            + (f": {why}" if why else "")
        )

    def _release_later(self, future: Future[Any]) -> None:
        """Let the scheduler forget a task, after the next order.

        A client of Dask sends at most one message in 10 ms. The next order would wait that long.
        """
        loop = self.crew.client.loop
        assert loop is not None, "the loop of a client begins with it"
        loop.add_callback(loop.call_later, _RELEASED, future.release)

    def _wait(self, future: Future[Any], site: Site) -> Taken:
        ended = threading.Event()
        future.add_done_callback(lambda _: ended.set())
        deserted, generation = time.monotonic(), site.generation
        while not ended.wait(1.0):
            if self._cancelled and time.monotonic() - deserted > _ENDING:
                raise Cancelled
            self.crew.refresh()
            if site.addresses and not self._cancelled:
                deserted = time.monotonic()
            self._give_up_if_deserted(site, deserted)
            if site.generation != generation:
                raise _UnseenError
        try:
            taken: Taken = future.result(timeout=_FETCHED)
        except TimeoutError as error:
            raise _UnseenError("its record was not fetched from its worker") from error
        return taken

    def _give_up_if_deserted(self, site: Site, since: float) -> None:
        if not site.addresses and time.monotonic() - since > self.crew.patience:
            raise FleetError(
                f"no worker is left on {site.place.host}, where the filled caches are; what was "
                "recorded is kept, and `observatory run` continues with --resume"
            )
