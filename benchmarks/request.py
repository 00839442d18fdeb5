"""The request of one sample, and the jobs of its processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from .catalogue import BACKENDS, MODELS, SCENARIOS, Backend, Cell, Measure
from .messages import Job, Role
from .models import Model
from .sandbox import Sandbox

DEFAULT_TIMEOUT = 600.0


@dataclass(frozen=True)
class Request:
    """What to measure, and with which settings."""

    cell: Cell
    measure: Measure
    cache: Path | None = None
    """A filled cache, as `keep_cache` leaves one, to start from. None: a warm cell fills one."""
    keep_cache: Path | None = None
    """Where to leave a copy of the caches afterwards."""
    keep_fresh: Path | None = None
    """Scenario upgrade: where to leave the cache that was filled from empty."""
    flags: str | None = None
    """Further PYTENSOR_FLAGS, as a user would set them."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Further variables of the measured processes, as a user would set them."""
    data: Path | None = None
    """A CSV file for the radon models; None: the generated data."""
    graphs: Path | None = None
    """A JSON file that describes the graphs of the model; None: its own."""
    hash_seed: int | None = None
    """PYTHONHASHSEED of the measured process; None: the start method and the cache decide."""
    imports: bool = False
    """Whether another process says what importing takes, module by module."""
    only: tuple[str, ...] = ()
    """The members of the model to build; empty: all of them."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds for each process of the sample."""

    @cached_property
    def model(self) -> Model:
        """The model, with the graphs of the file. Raises ValueError and OSError for a bad file."""
        return MODELS[self.cell.model].described_by(self.graphs)

    @property
    def backend(self) -> Backend:
        """What is measured."""
        return BACKENDS[self.cell.backend]

    @property
    def pytensor_flags(self) -> str | None:
        """The PYTENSOR_FLAGS of the backend and of the user; None if there are none."""
        backend = self.backend
        default = backend.as_default if SCENARIOS[self.cell.scenario].walked else ""
        return ",".join(filter(None, (backend.flags, default, self.flags))) or None

    def job(self, box: Sandbox, role: Role, index: int = 0) -> Job:
        """Return the job of one process, with the wanted members of the model.

        ``index`` distinguishes the processes of one role, which report to a file each.
        """
        return Job(
            role=role,
            cell=self.cell,
            measure=self.measure,
            members=self.only or self.model.members,
            data=None if self.data is None else self.data.resolve(),
            report=box.out / f"{role}-{index}.json",
            graphs=None if self.graphs is None else self.graphs.resolve(),
        )
