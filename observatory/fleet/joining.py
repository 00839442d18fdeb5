"""How a worker joins: it claims its CPUs, says what it is, and whether it may measure."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import secrets
import socket
import threading
from pathlib import Path

from distributed import Worker, WorkerPlugin

from observatory.errors import ObservatoryError
from observatory.fleet.orders import BENCH, Place
from observatory.run import counter
from observatory.run.cpus import Claim, claim
from observatory.run.fitness import unfit
from observatory.run.local import STATE, hidden_from_git
from observatory.store.base.files import write_new
from observatory.store.records.machine import this_machine

_TRIMMED = "MALLOC_TRIM_THRESHOLD_"
"""Dask sets it for its workers; a measured process would inherit it and use less memory."""

PLACES: dict[str, Place] = {}
"""What this process is, by the name of the plugin and by the name of the place."""
_plugins: dict[str, Bench] = {}
_claim: Claim | None = None
_guard = threading.Lock()


class Bench(WorkerPlugin):
    """Prepares each worker as it joins: CPUs of its own, and a resource that names its place."""

    idempotent = True

    def __init__(self, state: Path, token: str, boot: str, each: int | None) -> None:
        self.name = f"observatory-{token}"
        self.state, self.token, self.boot, self.each = state, token, boot, each

    async def setup(self, worker: Worker) -> None:
        """Look at the machine. A worker that may not measure gets no resource, and so no task."""
        place = await asyncio.to_thread(self._look, worker)
        PLACES[self.name], _plugins[self.name] = place, self
        if not place.problem:
            PLACES[place.name] = place
            await worker.set_resources(**{place.resource: 1})

    def _look(self, worker: Worker) -> Place:
        os.environ.pop(_TRIMMED, None)
        own = os.environ.get("OBSERVATORY_STATE")
        boot, state = boot_id(), Path(own or STATE).absolute()
        home = not own and boot == self.boot and token_of(self.state) == self.token
        if home:
            state = self.state
        machine, host = this_machine(), socket.gethostname()
        problem, claimed = _unlike(worker), Claim(())
        with contextlib.suppress(OSError):
            hidden_from_git(state)
            give_token(state)
        # Two containers of a machine may have a directory of one path each, and a machine that has
        # started again still has what it recorded.
        text = f"{token_of(state) or f'{boot} {state}'} {host} {machine.cpu}"
        name = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        if not problem and self.each is not None:
            try:
                claimed = _claimed(self.each)
            except ObservatoryError as error:
                problem = str(error)
        # Without a compiler PyTensor rewrites graphs in another way, for every backend.
        problem = problem or unfit()
        counts = counter.find()
        return Place(
            name=name,
            host=host,
            boot=boot,
            home=home,
            state=state,
            machine=machine,
            cpus=claimed.cpus,
            counted_with=counts.source,
            uncounted=counts.problem,
            problem=problem,
            since=claimed.since,
        )


def _unlike(worker: Worker) -> str:
    """Why a worker was not started as one that measures must be; empty if it was."""
    if worker.state.nthreads == 1 and worker.state.total_resources.get(BENCH) == 1:
        return ""
    return f"it was not started with --nthreads 1 --resources {BENCH}=1"


def _claimed(number: int) -> Claim:
    """Claim CPUs for this process, once. Raises CpusTakenError."""
    global _claim
    with _guard:
        if _claim is None:
            _claim = claim(number, os.sched_getaffinity(0))
            os.sched_setaffinity(0, _claim.cpus)
        return _claim


async def standing(plugin: str, dask_worker: Worker) -> Place | None:
    """What this worker is; None if it has not been prepared yet.

    One that may not measure looks again: who owned its CPU may have ended.
    """
    place = PLACES.get(plugin)
    if place is not None and place.problem:
        await _plugins[plugin].setup(dask_worker)
    return PLACES.get(plugin)


async def let(place: str, number: int, dask_worker: Worker) -> None:
    """Let this worker take samples of a place, one at a time, or none (0).

    For what it cannot see itself: that another container of its machine owns its CPU.
    """
    await dask_worker.set_resources(**{PLACES[place].resource: number})


def boot_id() -> str:
    """The id of this machine's start."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return socket.gethostname()


def give_token(state: Path) -> None:
    """Give a directory STATE a token, unless it has one. Raises OSError."""
    file = state / "fleet" / "token"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_new(file, secrets.token_hex(16).encode())


def token_of(state: Path) -> str:
    """The token of a directory STATE, by which all know it; empty if it has none."""
    try:
        return (state / "fleet" / "token").read_text().strip()
    except OSError:
        return ""
