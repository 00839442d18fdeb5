"""Opening what `--cluster` names: workers on this machine, or the scheduler at an address."""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import dask
from distributed import Client, LocalCluster
from distributed.security import Security

from observatory.fleet import worker as remote
from observatory.fleet.cluster import NONE, DaskFleet, gathered, joined
from observatory.fleet.orders import BENCH, MOST_BEGUN, Place
from observatory.run.fleets import FleetError
from observatory.store.records.machine import this_machine

_ALLOWED = MOST_BEGUN - 1
"""Workers that a task may end; after one more it is recorded as a sample that was killed. It is the
only one that a worker has, so that no other is blamed."""
_SETTINGS = {
    "distributed.scheduler.allowed-failures": _ALLOWED,
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.scheduler.worker-ttl": "5 minutes",
    # What a worker sets for itself, a measured process would inherit.
    "distributed.nanny.pre-spawn-environ": {},
    # What wakes up often would disturb a sample, and none of it is needed: each task has its place.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.cycle": "5s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
    "distributed.client.scheduler-info-interval": "10s",
}


@contextlib.contextmanager
def opened(
    text: str, state: Path, say: Callable[[str], None], *, shared: bool = False
) -> Iterator[DaskFleet]:
    """The fleet that ``text`` names, ``local:N`` or an address, until the block ends.

    ``shared``: workers own no CPU, so that there may be more of them; only for simulations, in
    which nothing is measured. Raises FleetError.
    """
    with _connected(text, state, shared=shared) as (client, each):
        yield gathered(client, state.absolute(), this_machine().cpu, each, say)


def workers(text: str, state: Path) -> list[tuple[str, Place, tuple[str, ...]]]:
    """Each worker of what ``text`` names: its address, what it is, and its versions of Python.

    They take no samples. Raises FleetError.
    """
    with _connected(text, state) as (client, each):
        crew = joined(client, state.absolute(), this_machine().cpu, each, lambda _: None)
        if not crew.workers:
            raise FleetError(f"the cluster has no worker: {NONE}")
        pythons = client.run(remote.pythons, workers=list(crew.workers), on_error="ignore")
        return [(one, place, pythons.get(one, ())) for one, place in crew.workers.items()]


@contextlib.contextmanager
def _connected(
    text: str, state: Path, *, shared: bool = False
) -> Iterator[tuple[Client, int | None]]:
    """A client of what ``text`` names, and the number of CPUs that each worker is to claim."""
    local = re.fullmatch(r"local:(\d{1,4})", text)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(_SETTINGS), contextlib.ExitStack() as held:
        if local:
            number = int(local[1])
            each = None if shared else _each(number)
            try:
                client = held.enter_context(_started(number, state))
            except (OSError, RuntimeError) as error:
                raise FleetError(
                    f"--cluster {text}: the workers do not start ({error}); they are processes "
                    "that listen on 127.0.0.1, and need room in --state"
                ) from error
        else:
            each = 1
            try:
                client = held.enter_context(Client(text, timeout=20, set_as_default=False))
            except (OSError, ValueError, TimeoutError) as error:
                raise FleetError(
                    f"--cluster {text}: no scheduler answers there ({error}); write local:N, or an "
                    "address such as tcp://10.0.0.5:8786"
                ) from error
            # It has settings of its own. A lambda, because observatory need not be installed there.
            client.run_on_scheduler(
                lambda dask_scheduler, most: setattr(dask_scheduler, "allowed_failures", most),
                most=_ALLOWED,
            )
        yield client, each


@contextlib.contextmanager
def _started(number: int, state: Path) -> Iterator[Client]:
    """A client of new workers on this machine. Raises OSError and RuntimeError."""
    with (
        LocalCluster(
            n_workers=number, threads_per_worker=1, processes=True, resources={BENCH: 1},
            dashboard_address="127.0.0.1:0", memory_limit=0,
            scheduler_kwargs={"dashboard": False}, silence_logs=logging.CRITICAL,
            # Whoever can reach a scheduler can run programs as this user.
            security=Security.temporary(), host="127.0.0.1",
            local_directory=str(state.absolute() / "fleet" / "workers"),
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        client.wait_for_workers(number, timeout=120)
        yield client


def _each(workers: int) -> int:
    """The number of CPUs of each of some workers on this machine. Raises FleetError."""
    cpus = len(os.sched_getaffinity(0))
    if not 0 < workers <= cpus:
        raise FleetError(
            f"--cluster local:{workers}: each worker owns a CPU, and this machine has {cpus}; "
            f"give local:1 to local:{cpus}"
        )
    return cpus // workers
