"""Handing an order to a place: one task of Dask is one sample, and a worker has one at a time."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

from distributed import Future, KilledWorker
from distributed.client import FutureCancelledError

from observatory.fleet import worker as remote
from observatory.fleet.crew import Crew, Site
from observatory.fleet.orders import BENCH, Order, Taken
from observatory.run.execute import Cancelled
from observatory.run.fleets import FleetError

_RESUBMITTED = 5
"""How many times a task is handed in again that the scheduler has lost."""
_ENDING = 20.0
"""Seconds that a cancelled run waits for a worker to end its sample."""
_FETCHED = 30.0
"""Seconds in which the record of a sample that has ended is fetched from its worker."""
_RELEASED = 0.05
"""Seconds after which the scheduler may forget a task that has ended."""


class DesertedError(Exception):
    """No worker has been at a place for as long as one is waited for."""


class _UnseenError(Exception):
    """All workers of a place were replaced, or the one that holds a record ended.

    Dask gives a task that no worker could take to none that joins without its resource, which a
    worker gets only after it has joined. And if a worker ends while its result is fetched, Dask
    says that it reschedules the key, but sometimes waits for it for ever.
    """


@dataclass
class Handing:
    """Hands the orders of one session in, and waits for what workers return."""

    crew: Crew
    session: str
    welcome: Callable[[], bool]
    """Begins to prepare places that have joined; returns whether one is being prepared."""
    _cancelled: bool = False

    def cancel(self) -> None:
        """End the samples that are running, and start no other."""
        self._cancelled = True
        with self.crew.changed:
            self.crew.changed.notify_all()
        with contextlib.suppress(Exception):  # whoever cancels may have lost the cluster
            self.crew.client.run(remote.stop, self.session, on_error="ignore", wait=False)

    @contextlib.contextmanager
    def slot(self, name: str, *, alone: bool) -> Iterator[Site]:
        """Wait until a worker of a place is free, or all of them are for a sample taken alone."""
        site = self.crew.sites[name]
        while not self._claimed(site, alone):
            self.look()
            self._check_deserted(site)
        try:
            yield site
        finally:
            with self.crew.changed:
                site.running -= 1
                site.alone = False
                self.crew.changed.notify_all()

    def _claimed(self, site: Site, alone: bool) -> bool:
        """Claim a worker of a place; return False if none was free for up to a second."""
        with self.crew.changed:
            if site.alone or site.running >= (1 if alone else len(site.addresses)):
                self.crew.changed.wait(1.0)
                return False
            site.running += 1
            site.alone = alone
            return True

    def look(self) -> bool:
        """Look who is there and who has joined; whether a place is being prepared."""
        if self._cancelled:
            raise Cancelled
        self.crew.refresh()
        return self.welcome()

    def take(self, order: Order, site: Site) -> tuple[Taken | None, int]:
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
            except DesertedError:
                future.cancel()
                raise
            except (KilledWorker, _UnseenError) as error:
                # Dask may have passed it on from one dead worker of a machine to the next, and none
                # has begun it. Where it is handed in again, it is known how often it was begun.
                future.cancel()
                self.crew.counts["resubmitted"] += 1
                why = str(error)[:500]
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
        ended, generation = threading.Event(), site.generation
        future.add_done_callback(lambda _: ended.set())
        until = math.inf
        while not ended.wait(1.0):
            if self._cancelled:
                until = min(until, time.monotonic() + _ENDING)
                if time.monotonic() > until:
                    raise Cancelled
            else:
                self.welcome()
            self.crew.refresh()
            self._check_deserted(site)
            if site.generation != generation:
                raise _UnseenError
        try:
            taken: Taken = future.result(timeout=_FETCHED)
        except TimeoutError as error:
            raise _UnseenError("its record was not fetched from its worker") from error
        return taken

    def _check_deserted(self, site: Site) -> None:
        if site.deserted_for > self.crew.patience:
            raise DesertedError
