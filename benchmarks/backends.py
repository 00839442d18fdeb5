"""The backends of the catalogue as modes that mean the same in every release from 2.34 on."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .catalogue import BACKENDS
from .probes.ledger import Ledger


def problem(backend: str) -> str | None:
    """Return why this environment cannot run the backend, as a sentence; None if it can.

    Imports pytensor for a backend that has a linker, to learn whether it found a compiler.
    """
    record = BACKENDS[backend]
    if record.package and find_spec(record.package) is None:
        missing = f"{record.package} is not installed in this environment"
        return f"{missing}, and this release does not require it"
    if record.optional and record.mode:
        from pytensor.compile.mode import predefined_modes

        if record.mode not in predefined_modes:
            return f"this release has no mode {record.mode}"
    if record.linker:
        from pytensor.configdefaults import config

        if not config.cxx:
            return "PyTensor found no C++ compiler (its flag cxx is empty)"
    return None


def mode(backend: str) -> Any:
    """Return the `mode` argument of `pytensor.function`; None: the subject chooses.

    C and C_VM are built from their linkers: as names they exist only since 2.38. This call also
    applies the patch of the backend to PyTensor, if it has one.
    """
    record = BACKENDS[backend]
    if record.patch:
        globals()[record.patch]()
    if record.linker:
        from pytensor.compile.mode import Mode

        return Mode(linker=record.linker, optimizer="fast_run")
    return record.mode or None


def warm_up(backend: str) -> None:
    """Do once what the first build of every process does: look up the rewrites, start a compiler.

    Nothing is stored in a cache, and the patch of the backend is not applied.
    """
    import pytensor
    import pytensor.tensor as pt
    from pytensor.compile.mode import Mode, get_mode

    record = BACKENDS[backend]
    rewrites = "fast_run" if record.linker else get_mode(record.mode or None).provided_optimizer
    x = pt.vector("x")
    # Without a constant: releases before 3.0 fold constants with compiled code.
    pytensor.function([x], [x + x], mode=Mode(linker="py", optimizer=rewrites))
    if record.may_use_numba and find_spec("numba"):
        import numba
        import numpy as np

        numba.njit(lambda array: array + array)(np.ones(2))


def as_arrays(value: Any) -> Any:
    """Return what a compiled function returned, as NumPy arrays: this waits for what is computed.

    A sampler does the same with every value.
    """
    import numpy as np

    if isinstance(value, list | tuple):
        return [np.asarray(one) for one in value]
    return np.asarray(value)


def install_probes(backend: str, ledger: Ledger) -> None:
    """Put hooks into the compilers and caches of a backend. Call it once in a process."""
    for name in BACKENDS[backend].probes:
        probe = import_module(f".probes.{name}", __package__)
        # A subject that chooses the backend cannot choose one that is not installed.
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
