"""What a worker does that has joined: it makes environments and takes samples.

A worker is a process of Dask with one thread. Each task is one sample, taken by the same `Executor`
as without a cluster, and recorded in the spool of this machine before the task ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from observatory.benchmarks.catalogue import SCENARIOS
from observatory.fleet import making
from observatory.fleet.joining import PLACES
from observatory.fleet.orders import (
    MOST_BEGUN,
    NotTakenError,
    Order,
    Place,
    Recipe,
    Taken,
    Wheel,
)
from observatory.fleet.watching import untimed
from observatory.run import interpreters
from observatory.run.environments import Environment
from observatory.run.execute import Cancelled, Executor
from observatory.run.filled import CACHES, sweep
from observatory.run.local import machine_lock
from observatory.run.spool import Spool, Spooled
from observatory.store.base.locking import shared_lock
from observatory.store.journal.models import JournalHeader

_WATCHED = 900.0
"""Seconds to wait until nothing else runs, before the fixed work of the sentinel is timed."""

_running: dict[str, list[Executor]] = {}
_stopped: set[str] = set()
_environments: dict[str, Environment] = {}
_kept: dict[str, dict[Path, int]] = {}
"""By session, the directories of filled caches whose locks this process holds."""
_guard = threading.Lock()


def pythons() -> tuple[str, ...]:
    """The versions of Python that this worker can make environments with."""
    return tuple(one.minor for one in interpreters.find().interpreters)


def take(order: Order) -> Taken:
    """Take one sample and record it; a sample that is recorded already is not taken again.

    Raises Cancelled, EnvironmentMakingError, NoInterpreterError and NotTakenError.
    """
    try:
        return _take(order, PLACES[order.place])
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
            held.enter_context(_held(machine_lock(), alone, limit))
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
    sweep(PLACES[place].state / CACHES)
    _environments.pop(_name(recipe, PLACES[place]), None)
    _environment(recipe, PLACES[place])


def watch(place: str, boot: str) -> str:
    """Why times of the machine of this worker are not trusted now; empty if they are."""
    own = PLACES[place]
    with contextlib.ExitStack() as held:
        held.enter_context(_held(own.state / "fleet" / "busy.lock", True, _WATCHED))
        if own.boot != boot:
            held.enter_context(_held(machine_lock(), True, _WATCHED))
        return untimed(own.state, datetime.now(UTC))


def lacking(wheels: tuple[Wheel, ...], place: str) -> list[Wheel]:
    """Those of some wheels that the place of this worker lacks."""
    return making.lacking(PLACES[place].state, wheels)


def keep(wheel: Wheel, content: bytes, place: str) -> None:
    """Keep a wheel at the place of this worker. Raises EnvironmentMakingError."""
    making.keep(PLACES[place].state, wheel, content)


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
    return Spool.of(PLACES[place].state, session).records()


def clear(session: str, place: str, caches: str = "") -> None:
    """Remove the spool of a session at this place; with ``caches``, only these filled caches."""
    state = PLACES[place].state
    if not caches:
        Spool.of(state, session).remove()
        _let_caches_go(session)
    elif not PLACES[place].home:  # the client removes its own
        shutil.rmtree(state / caches, ignore_errors=True)


def filled(caches: str, place: str) -> list[str]:
    """The names of the filled caches that are at the place of this worker."""
    directory = PLACES[place].state / caches
    return sorted(one.name for one in directory.iterdir()) if directory.is_dir() else []


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
