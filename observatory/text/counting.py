"""What counted the work of a cell, in words. Pure."""

from __future__ import annotations

from collections.abc import Collection

from observatory.benchmarks.catalogue import BACKENDS, SCENARIOS, Cell

NOT_FOLLOWED = (
    "Callgrind does not follow the C++ compiler: the instructions of {} leave out its own work, "
    "and compiler_runs says how often it ran"
)


def counted_by(cell: Cell, source: str | None) -> str:
    """What counted the work of a cell; empty where nothing is known to.

    ``source``: as its record names it.
    """
    if leaves_out_compiler(cell.scenario, cell.backend, source):
        return f"{source}, without the work of the C++ compiler"
    return source or ""


def leaves_out_compiler(scenario: str, backend: str, source: str | None) -> bool:
    """Whether a C++ compiler that the build starts would not be counted.

    The hardware counts the processes that the measured one starts, callgrind does not.
    """
    built = scenario in SCENARIOS and SCENARIOS[scenario].family != "call"
    of_c = backend in BACKENDS and BACKENDS[backend].cache == "c_module"
    return built and of_c and (source or "").startswith("callgrind")


def not_followed(backends: Collection[str]) -> str:
    """A sentence on the counts of these backends, in the order of the catalogue."""
    return NOT_FOLLOWED.format(" and ".join(name for name in BACKENDS if name in backends))
