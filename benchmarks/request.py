"""What one sample is asked for, and the jobs of its processes that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.catalogue import BACKENDS, MEMBERS, Cell, Measure
from benchmarks.messages import Job, Role
from benchmarks.sandbox import Sandbox

DEFAULT_TIMEOUT = 600.0


@dataclass(frozen=True)
class Request:
    """What one sample is asked for."""

    cell: Cell
    measure: Measure
    cache: Path | None = None
    """A filled cache to start from, as `keep_cache` left one. None: a warm cell fills its own."""
    keep_cache: Path | None = None
    """Where to leave a copy of the caches afterwards."""
    keep_fresh: Path | None = None
    """Scenario upgrade: where to leave the cache that was filled from empty."""
    flags: str | None = None
    """Further PYTENSOR_FLAGS, as a user would set them."""
    data: Path | None = None
    """A CSV file for the radon models; None: the generated data."""
    hash_seed: int | None = None
    """PYTHONHASHSEED of the measured process; None: as the start method and the cache ask for."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds for each process of the sample."""

    @property
    def pytensor_flags(self) -> str | None:
        """The PYTENSOR_FLAGS of the cell's backend and of the user; None if there are none."""
        return ",".join(filter(None, (BACKENDS[self.cell.backend].flags, self.flags))) or None

    def job(self, box: Sandbox, role: Role, index: int = 0) -> Job:
        """Return the job of one process, which reports to a file of its sandbox.

        ``index`` tells the processes of one role apart. The job names every member of the model.
        """
        return Job(
            role=role,
            cell=self.cell,
            measure=self.measure,
            members=tuple(MEMBERS.get(self.cell.model, ())),
            data=None if self.data is None else self.data.resolve(),
            report=box.out / f"{role}-{index}.json",
        )
