"""What all subjects of a command share: where results and environments lie, and who measures."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from observatory.app.progress import Progress, Update, doing, silent
from observatory.run import counter
from observatory.run.batches import GivesWay
from observatory.run.environments import NO_PINS, Environment
from observatory.run.execute import Executor
from observatory.run.fleets import Fleet
from observatory.run.local import Shared, environment_of, local_subjects, measuring_lock
from observatory.run.placing import Placing
from observatory.run.schedule import TakesSamples
from observatory.run.subjects import Subjects
from observatory.store.base.files import check_writable
from observatory.store.journal.models import new_run
from observatory.store.reading.saved import INTERLEAVED
from observatory.store.records.machine import Machine
from observatory.store.records.subject import Subject
from observatory.text.units import seconds

NARROWED = "narrowed"
"""Below the state: the results of searches that build only some graphs, by these."""
TIMEOUT = 600.0
"""Default of the longest time, in seconds, that one measured process may take."""


def workers_here() -> int:
    """The number of counting samples that this machine takes at a time."""
    return min(2, os.cpu_count() or 1)


@dataclass(frozen=True)
class Session:
    """What all subjects of one command share."""

    plan: str
    """What is measured: the name of a preset, or ``interleaved``."""
    results: Path
    state: Path
    """Directory of environments and filled caches: `.observatory/`."""
    machine: Machine
    timeout: float = TIMEOUT
    """Seconds that one measured process may take."""
    workers: int = field(default_factory=workers_here)
    """Number of counting samples taken in parallel. Timing samples are always taken one by one."""
    data: Path | None = None
    only: tuple[str, ...] = ()
    """The graphs that are built, of models of many; empty: all of them."""
    resume: bool = False
    """Whether to continue the last run of the same plan instead of beginning a new one."""
    deadline: float = math.inf
    """The time of `time.monotonic` after which no sample begins."""
    keep_caches: bool = False
    """Whether a later command takes other passes of the same run."""
    progress: Progress = silent
    fleet: Fleet | None = None
    """The workers of a cluster that take the samples; None: this process does."""
    _lock: Shared = field(default_factory=Shared)
    """The lock for measuring, of all subjects that are measured at once."""

    def __post_init__(self) -> None:
        """Raise RecordUsageError before anything is measured that could not be recorded."""
        if self.plan != INTERLEAVED:  # these samples are recorded elsewhere
            check_writable(self.results, "--results")

    @cached_property
    def run(self) -> str:
        """The name of the new run."""
        return new_run(self.plan)

    @cached_property
    def subjects(self) -> Subjects:
        """The reader of subjects on this machine; finding its interpreters takes a second."""
        return local_subjects(self.state)

    def environment(
        self, subject: Subject, added: Sequence[str] = (), pins: Mapping[str, str] = NO_PINS
    ) -> Environment:
        """The environment of a subject, with what backends need beside it; ``pins``: versions.

        Raises as `observatory.run.local.environment_of` does.
        """
        text = f"making the environment of {subject.label}"

        @contextlib.contextmanager
        def making() -> Iterator[None]:
            began = time.monotonic()
            self.say(text)
            with doing(self.progress, f"{text}: from source it takes minutes"):
                yield
            self.say(f"{text} took {seconds(time.monotonic() - began)}")

        return environment_of(
            subject, self.subjects, self.state, added=added, pins=pins, making=making
        )

    @property
    def timed_at_once(self) -> int:
        """The number of timing samples taken at a time, each alone on its machine."""
        return 1 if self.fleet is None else self.fleet.timed_at_once

    def uncounted(self) -> str:
        """Why nothing counts instructions for the pass `work`; empty if something does."""
        return counter.find().problem if self.fleet is None else self.fleet.uncounted()

    def counted_with(self) -> str:
        """What counts instructions for the pass `work`, and for which CPU; empty: nothing does."""
        return counter.find().source if self.fleet is None else self.fleet.counted_with()

    def untimed(self) -> str:
        """Why the times of no worker of the cluster are trusted; empty otherwise."""
        if self.fleet is None:
            return ""
        with self.lock():
            return self.fleet.untimed()

    def lock(self) -> contextlib.AbstractContextManager[GivesWay | None]:
        """Hold the lock for measuring on this machine, if anything is measured on it.

        Several subjects that are measured at once share it.
        """
        lock = measuring_lock if self.fleet is None else self.fleet.lock
        return self._lock(lock(self.say))

    @contextlib.contextmanager
    def taking(
        self,
        results: Path | None,
        subject: Subject,
        environment: Environment,
        caches: Path,
        *,
        run: str | None = None,
        added: Sequence[str] = (),
        pins: Mapping[str, str] = NO_PINS,
        placing: Placing | None = None,
    ) -> Iterator[TakesSamples]:
        """What takes samples of a subject, here or on the fleet, from ``caches`` that are filled.

        ``results``: the directory in which the caller records them, each by itself; None: in pairs,
        so that one which only a worker has recorded is dropped. ``run``: the run that they are of,
        which may be an interrupted one; None: that of this session. ``placing``: what keeps
        the chains of several subjects at the same places. Raises OSError and FleetError.
        """
        caches.mkdir(parents=True, exist_ok=True)
        if self.fleet is None:
            yield self.executor(environment, caches)
            return
        with self.fleet.samples(
            results, run or self.run, self.machine.machine, subject, environment,
            added=added, pins=pins, caches=caches, placing=placing or self.fleet.placing(),
            settings={"timeout": self.timeout, "data": self.data and self.data.absolute(),
                      "only": self.only},
        ) as found:  # fmt: skip
            yield found

    def executor(
        self, environment: Environment, caches: Path, *,
        flags: str | None = None, variables: Mapping[str, str] = NO_PINS, place: Path | None = None,
    ) -> Executor:  # fmt: skip
        """What takes samples here. ``flags``, ``variables``: as a user would set them.

        ``place``: another directory for the caches and temporary files of samples.
        """
        return Executor(
            environment, caches.absolute(), self.timeout, self.data, flags=flags,
            variables=variables, place=place, only=self.only,
        )  # fmt: skip

    def narrowed(self, graphs: Sequence[str]) -> Session:
        """The session that builds only these graphs; this one if there are none.

        What it takes is recorded below its state, because a count of some graphs is not that of
        the cell. The same graphs find it again.
        """
        if not graphs:
            return self
        own = replace(self, only=tuple(sorted(set(graphs))))
        return replace(own, results=self.state / NARROWED / own.narrowing)

    @property
    def narrowing(self) -> str:
        """A name for the graphs that are built; empty if all are."""
        return hashlib.sha256("\0".join(self.only).encode()).hexdigest()[:16] if self.only else ""

    def say(self, text: str, kind: Literal["plain", "warning", "error"] = "plain") -> None:
        """Report a line of text."""
        self.progress(Update(text, kind))
