"""What one sample is asked for, and what its processes are told of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import backends
from benchmarks.catalogue import MEMBERS, Cell

DEFAULT_TIMEOUT = 600.0


@dataclass(frozen=True)
class Request:
    """What one sample is asked for."""

    cell: Cell
    measure: str
    cache: Path | None = None
    """A filled cache to start from, as `keep_cache` left one. Warm cells fill their own if None."""
    keep_cache: Path | None = None
    """Where to leave a copy of the caches afterwards."""
    keep_fresh: Path | None = None
    """Scenario upgrade: where to leave the cache that was filled from empty."""
    flags: str | None = None
    """Further PYTENSOR_FLAGS, as a user would set them."""
    data: Path | None = None
    hash_seed: int | None = None
    timeout: float = DEFAULT_TIMEOUT
    """Seconds for each process of the sample."""


def flags_of(request: Request) -> str | None:
    """The PYTENSOR_FLAGS of the cell's backend and of the user; None: none."""
    return ",".join(filter(None, (backends.FLAGS.get(request.cell.backend), request.flags))) or None


def job_of(request: Request, role: str, index: int = 0) -> dict[str, Any]:
    """The job of one process: ``role`` says what it does, ``index`` tells those of a role apart."""
    return {
        "role": role,
        "index": index,
        "cell": asdict(request.cell),
        "measure": request.measure,
        "prefix": "",
        "members": list(MEMBERS.get(request.cell.model, ())),
        "data": None if request.data is None else str(request.data.resolve()),
    }
