"""What runs in a worker: it claims its CPUs, says what it is, and takes samples.

A worker is a process of Dask with one thread. Each task is one sample, taken by the same `Executor`
as without a cluster, and recorded in the spool of this machine before the task ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from distributed import Worker, WorkerPlugin

from observatory.benchmarks.catalogue import SCENARIOS
from observatory.errors import ObservatoryError
from observatory.fleet import making
from observatory.fleet.orders import (
    BENCH,
    MOST_BEGUN,
    NotTakenError,
    Order,
    Place,
    Recipe,
    Taken,
    Wheel,
)
from observatory.fleet.watching import untimed
from observatory.run import counter, interpreters
from observatory.run.cpus import Claim, claim
from observatory.run.environments import Environment
from observatory.run.execute import Cancelled, Executor
from observatory.run.filled import CACHES, sweep
from observatory.run.fitness import unfit
from observatory.run.local import LOCK, STATE, hidden_from_git
from observatory.run.spool import Spool, Spooled
from observatory.store.base.files import write_new
from observatory.store.base.locking import shared_lock
from observatory.store.journal.models import JournalHeader
from observatory.store.records.machine import this_machine

_TRIMMED = "MALLOC_TRIM_THRESHOLD_"
"""Dask sets it for its workers; a measured process would inherit it and use less memory."""


_WATCHED = 900.0
"""Seconds to wait until nothing else runs, before the fixed work of the sentinel is timed."""

_plugins: dict[str, Bench] = {}
_places: dict[str, Place] = {}
"""What this process is, by the name of the plugin and by the name of the place."""
_running: dict[str, list[Executor]] = {}
_stopped: set[str] = set()
_environments: dict[str, Environment] = {}
_kept: dict[str, dict[Path, int]] = {}
"""By session, the directories of filled caches whose locks this process holds."""
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
        _places[self.name], _plugins[self.name] = place, self
        if not place.problem:
            _places[place.name] = place
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
            name,
            host,
            boot,
            home,
            state,
            machine,
            claimed.cpus,
            counts.source,
            counts.problem,
            problem,
            claimed.since,
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
    place = _places.get(plugin)
    if place is not None and place.problem:
        await _plugins[plugin].setup(dask_worker)
    return _places.get(plugin)


async def let(place: str, number: int, dask_worker: Worker) -> None:
    """Let this worker take samples of a place, one at a time, or none (0).

    For what it cannot see itself: that another container of its machine owns its CPU.
    """
    await dask_worker.set_resources(**{_places[place].resource: number})


def pythons() -> tuple[str, ...]:
    """The versions of Python that this worker can make environments with."""
    return tuple(one.minor for one in interpreters.find().interpreters)


def take(order: Order) -> Taken:
    """Take one sample and record it; a sample that is recorded already is not taken again.

    Raises Cancelled, EnvironmentMakingError, NoInterpreterError and NotTakenError.
    """
    try:
        return _take(order, _places[order.place])
    except OSError as error:
        raise NotTakenError(str(error)) from error


def _take(order: Order, place: Place) -> Taken:
    spool = Spool.of(place.state, order.session)
    begun = spool.begin(order.key)
    task, limit = order.task, order.timeout * SCENARIOS[order.task.cell.scenario].limits + 120
    alone = task.measure == "timing"
    with contextlib.ExitStack() as held:
        # Another process may still take this very sample, if the scheduler believes it dead.
        held.enter_context(_held(spool.directory / f"{order.key}.begun", True, limit))
        if (known := spool.find(order.key)) is not None:
            return Taken(known, begun, recognised=True)
        if begun > MOST_BEGUN:
            # Dask gives up, too, but not if the client has handed it in anew in the meantime.
            return Taken(b"", begun, recognised=False)
        held.enter_context(_held(place.state / "fleet" / "busy.lock", alone, limit))
        if place.boot != order.boot:
            held.enter_context(_held(_machine_lock(), alone, limit))
        environment = _environment(order.recipe, place)
        # Of this thread; the processes that it starts inherit it.
        if place.cpus:
            os.sched_setaffinity(0, order.cpus if alone and order.cpus else place.cpus)
        sample = _execute(order, environment, place)
        machine = place.machine.model_copy(update={"machine": order.machine})
        header = JournalHeader(
            subject=order.recipe.subject, versions=environment.versions, machine=machine
        )
        record = Spooled(run=order.run, header=header, sample=sample)
        content = record.model_dump_json(by_alias=True, exclude_defaults=False).encode()
        return Taken(spool.record(order.key, content), begun, recognised=False)


def _execute(order: Order, environment: Environment, place: Place) -> Any:
    caches = place.state / order.caches
    caches.mkdir(parents=True, exist_ok=True)
    if not place.home:  # there, the client holds the locks
        _keep_caches(order, place.state)
    executor = Executor(environment, caches, order.timeout, **order.settings)
    if order.filled and not executor.holds(order.task.cache or ""):
        raise NotTakenError(f"the filled cache {order.task.cache} is not there any more")
    with _guard:
        if order.session in _stopped:
            raise Cancelled
        _running.setdefault(order.session, []).append(executor)
    try:
        return executor.run(order.task)
    finally:
        with _guard:
            _running[order.session].remove(executor)


def _keep_caches(order: Order, state: Path) -> None:
    """Hold the locks of the caches of a session, so that no other command removes them.

    A command holds those on its own machine itself. Some network file systems have no such locks.
    """
    kind, one, *_ = Path(order.caches).parts
    with _guard:
        held = _kept.setdefault(order.session, {})
        for directory in {state / kind / one, state / order.caches} - held.keys():
            with contextlib.suppress(OSError):
                held[directory] = shared_lock(directory)


def _let_caches_go(session: str) -> None:
    with _guard:
        for descriptor in _kept.pop(session, {}).values():
            os.close(descriptor)


def make(recipe: Recipe, place: str) -> None:
    """Make an environment at a place, or look at it anew: each session begins so.

    What killed commands left of filled caches goes. Raises EnvironmentMakingError and
    NoInterpreterError.
    """
    sweep(_places[place].state / CACHES)
    _environments.pop(_name(recipe, _places[place]), None)
    _environment(recipe, _places[place])


def watch(place: str, boot: str) -> str:
    """Why times of the machine of this worker are not trusted now; empty if they are."""
    own = _places[place]
    with contextlib.ExitStack() as held:
        held.enter_context(_held(own.state / "fleet" / "busy.lock", True, _WATCHED))
        if own.boot != boot:
            held.enter_context(_held(_machine_lock(), True, _WATCHED))
        return untimed(own.state, datetime.now(UTC))


def lacking(wheels: tuple[Wheel, ...], place: str) -> list[Wheel]:
    """Those of some wheels that the place of this worker lacks."""
    return making.lacking(_places[place].state, wheels)


def keep(wheel: Wheel, content: bytes, place: str) -> None:
    """Keep a wheel at the place of this worker. Raises EnvironmentMakingError."""
    making.keep(_places[place].state, wheel, content)


def _environment(recipe: Recipe, place: Place) -> Environment:
    if place.home:
        return recipe.environment
    name = _name(recipe, place)
    if name not in _environments:
        _environments[name] = making.made(recipe, place.state)
    return _environments[name]


def _name(recipe: Recipe, place: Place) -> str:
    return f"{place.name} {recipe.environment.key}"


async def stop(session: str) -> None:
    """End the samples of a session that run in this worker, and begin no other of them.

    A coroutine: Dask runs nothing else without waiting for it.
    """
    with _guard:
        _stopped.add(session)
        running = list(_running.get(session, ()))
    for executor in running:
        await asyncio.to_thread(executor.cancel)


def recorded(session: str, place: str) -> dict[str, bytes]:
    """What a session has recorded at the place of this worker, by key."""
    return Spool.of(_places[place].state, session).records()


def clear(session: str, place: str, caches: str = "") -> None:
    """Remove the spool of a session at this place; with ``caches``, only these filled caches."""
    state = _places[place].state
    if not caches:
        Spool.of(state, session).remove()
        _let_caches_go(session)
    elif not _places[place].home:  # the client removes its own
        shutil.rmtree(state / caches, ignore_errors=True)


def filled(caches: str, place: str) -> list[str]:
    """The names of the filled caches that are at the place of this worker."""
    directory = _places[place].state / caches
    return sorted(one.name for one in directory.iterdir()) if directory.is_dir() else []


def _machine_lock() -> Path:
    return Path(os.environ.get(LOCK) or "/tmp")  # noqa: S108 - only locked


@contextlib.contextmanager
def _held(path: Path, alone: bool, limit: float) -> Iterator[None]:
    """Hold a lock, alone or with others; after ``limit`` seconds go on without it.

    Whoever holds it longer than a sample may last was stopped, and takes no CPU.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
    try:
        mode = fcntl.LOCK_NB | (fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        until = time.monotonic() + limit
        while time.monotonic() < until:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, mode)
                break
            time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


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
