"""The backends of the catalogue as modes that mean the same in every release from 2.34 on."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.catalogue import BACKENDS
from benchmarks.probes.ledger import Ledger


def problem(backend: str) -> str | None:
    """Why this environment cannot run the backend, in a sentence; None if it can.

    Imports pytensor for a backend that has a linker, to learn whether it found a compiler.
    """
    record = BACKENDS[backend]
    if record.package and find_spec(record.package) is None:
        return (
            f"{record.package} is not installed in this environment, "
            "and this release does not require it"
        )
    if record.linker:
        from pytensor.configdefaults import config

        if not config.cxx:
            return "PyTensor found no C++ compiler (its flag cxx is empty)"
    return None


def mode(backend: str) -> Any:
    """The `mode` argument of `pytensor.function`; None where the subject chooses.

    C and C_VM are built from their linkers: as names they exist only since 2.38. What the backend
    changes in PyTensor is changed by this call.
    """
    record = BACKENDS[backend]
    if record.patch:
        globals()[record.patch]()
    if record.linker:
        from pytensor.compile.mode import Mode

        return Mode(linker=record.linker, optimizer="fast_run")
    return record.mode or None


def install_probes(backend: str, ledger: Ledger) -> None:
    """Hook the compilers and caches that a backend may use. Call it once in a process."""
    for name in BACKENDS[backend].probes:
        probe = import_module(f"benchmarks.probes.{name}")
        # Where the subject chooses the backend, it cannot choose one that is not installed.
        if find_spec(probe.PACKAGE) is not None:
            probe.install(ledger)


def stop_caching_the_outer_graph() -> None:
    """Ablation: compile the outermost graph without a cache, everything below it with one."""
    from pytensor.link.numba.linker import NumbaLinker

    cached = NumbaLinker.jit_compile

    def jit_compile(self: Any, fn: Any) -> Any:
        if isinstance(fn, tuple):  # (function, cache key), since 2.36
            return cached(self, (fn[0], None))
        from pytensor.link.numba.dispatch.basic import numba_njit

        return numba_njit(fn, no_cpython_wrapper=False, no_cfunc_wrapper=False, cache=False)

    NumbaLinker.jit_compile = jit_compile
