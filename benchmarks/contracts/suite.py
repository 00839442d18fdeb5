"""All contracts by area, in the order in which they are checked and shown."""

from __future__ import annotations

from benchmarks.contracts import (
    compiling,
    graphs,
    indexing,
    locating,
    names,
    reloading,
    uids,
    warning,
)
from benchmarks.contracts.contract import Area

AREAS: tuple[Area, ...] = (
    uids.AREA, locating.AREA, indexing.AREA, reloading.AREA, compiling.AREA, warning.AREA,
    graphs.AREA, names.AREA,
)  # fmt: skip
