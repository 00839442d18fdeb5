"""What the client sends to a worker, and what a worker tells and returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from observatory.benchmarks.plan import Task
from observatory.run.environments import Environment
from observatory.store.records.machine import Machine
from observatory.store.records.subject import Subject

BENCH = "bench"
"""The resource of Dask that a worker has one of."""


class NotTakenError(Exception):
    """A machine could not take a sample: a full disk, a removed interpreter, too many processes.

    It is not an OSError, which the client would take for one of its own connection.
    """


@dataclass(frozen=True)
class Place:
    """What a worker is and where it measures."""

    name: str
    """The same for all workers that share filled caches: of one machine and directory STATE."""
    host: str
    boot: str
    """The id of the machine's start: two containers of one machine have the same."""
    home: bool
    """Whether it measures in the client's own directory STATE, with the client's environments."""
    state: Path
    machine: Machine
    cpus: tuple[int, ...] = ()
    counted_with: str = ""
    """What counts instructions there, and for which CPU."""
    uncounted: str = ""
    """Why it cannot take the pass `work`; empty if it can."""
    problem: str = ""
    """Why it may not measure, as a sentence; empty if it may."""
    since: float = 0.0
    """When it claimed its CPUs, by the clock of its machine."""

    @property
    def resource(self) -> str:
        """The resource of Dask that only workers of this place have."""
        return f"place-{self.name}"


@dataclass(frozen=True)
class Wheel:
    """A wheel that no package index has, such as that of a commit: sent to who lacks it."""

    requirement: str
    """What it replaces in the requirements of the subject."""
    distribution: str
    file: str
    digest: str
    """The SHA-256 of its content, in hexadecimal digits."""


@dataclass(frozen=True)
class Recipe:
    """What makes an environment under test anywhere."""

    subject: Subject
    added: tuple[str, ...]
    pins: dict[str, str]
    environment: Environment
    """The client's own, which a worker with the same directory STATE uses."""
    contents: dict[str, str] = field(default_factory=dict)
    """The hash of each distribution of it, which every other one must have as well."""
    wheels: tuple[Wheel, ...] = ()


@dataclass(frozen=True)
class Order:
    """One sample to take."""

    session: str
    key: str
    run: str
    task: Task
    recipe: Recipe
    place: str
    boot: str
    """Of the client: on its machine it holds the lock for measuring itself."""
    machine: str
    """The name of the machine in the results."""
    caches: str
    """The directory of filled caches, relative to STATE."""
    timeout: float
    cpus: tuple[int, ...] = ()
    """The CPUs to use instead of the worker's own: those of the whole place, for times."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Further fields of the Executor."""
    filled: bool = False
    """Whether the cache that the task starts from was filled, and so must be there."""


MOST_BEGUN = 3
"""How often a sample is begun that ends its worker each time."""


@dataclass(frozen=True)
class Taken:
    """What a task returns."""

    record: bytes
    """A `Spooled` record, as it lies on the worker's disk; empty if the sample was begun as often
    as is allowed, and ended its worker each time."""
    begun: int
    """How many processes have begun to take it: 1, unless a worker died."""
    recognised: bool
    """Whether it had been recorded before this task ran."""
