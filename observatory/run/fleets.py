"""What measuring needs of a fleet: the workers of a cluster, or nothing at all.

`observatory.fleet` has the fleet of Dask. This module imports none of it, so that a run without a
cluster does not either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from observatory.errors import Exit, ObservatoryError
from observatory.run.batches import GivesWay
from observatory.run.environments import Environment
from observatory.run.placing import Placing
from observatory.run.schedule import TakesSamples
from observatory.store.records.machine import Machine
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject


class FleetError(ObservatoryError):
    """The cluster cannot be used, or is lost; what was recorded is kept."""

    exit_code = Exit.UNFIT


@runtime_checkable
class FleetSamples(TakesSamples, Protocol):
    """What takes the samples of one subject on a fleet."""

    def machine_of(self, sample: Sample) -> Machine:
        """Return the machine that took a sample which `run` returned."""
        ...

    def accept(self, sample: Sample) -> None:
        """Note that a sample which `run` returned is in a journal: its worker may forget it."""
        ...


class Fleet(Protocol):
    """The workers of a cluster."""

    @property
    def workers(self) -> int:
        """The number of samples that it takes at a time."""
        ...

    @property
    def timed_at_once(self) -> int:
        """The number of timing samples that it takes at a time, each on a machine of its own."""
        ...

    def machine(self, own: Machine) -> Machine:
        """Return the machine of the class that times come from, with the name of ``own``."""
        ...

    def uncounted(self) -> str:
        """Return why no worker counts instructions, as half a sentence; empty if one does."""
        ...

    def counted_with(self) -> str:
        """Return what counts instructions where work comes from; empty if nothing does."""
        ...

    def untimed(self) -> str:
        """Return why the times of no worker are trusted; empty if those of one are."""
        ...

    def lock(self, say: Callable[[str], None]) -> AbstractContextManager[GivesWay | None]:
        """Hold the lock for measuring on this machine, if workers of it take part."""
        ...

    def placing(self) -> Placing:
        """Return a new plan of which chain of tasks goes where."""
        ...

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
    ) -> AbstractContextManager[FleetSamples]:
        """Prepare every place for a subject, and yield what takes samples there.

        At the end, what workers recorded and nobody has asked the machine of is added to the
        journals below ``results``; None: it is dropped.
        """
        ...

    def tidy(self, caches: Path) -> None:
        """Remove filled caches that lie on other machines than this one."""
        ...

    def report(self) -> str:
        """Return a sentence on what was repeated because workers died; empty if nothing was."""
        ...
