"""The backends, as modes that mean the same in every release from 2.34 on."""

from __future__ import annotations

import importlib.util
from typing import Any

_LINKERS = {"C": "c", "C_VM": "cvm", "C_VM_NOGC": "cvm_nogc"}

FLAGS = {"NUMBA_NO_CACHE": "numba__cache=False"}
"""PYTENSOR_FLAGS of a backend: before 2.36 the numba flag is read only at import."""


def problem(backend: str) -> str | None:
    """Why this environment cannot run the backend, in a sentence; None if it can.

    Imports pytensor for the C backends, to learn whether it found a compiler.
    """
    if backend.startswith("NUMBA") and importlib.util.find_spec("numba") is None:
        return "numba is not installed in this environment, and this release does not require it"
    if backend in _LINKERS:
        from pytensor.configdefaults import config

        if not config.cxx:
            return "PyTensor found no C++ compiler (its flag cxx is empty)"
    return None


def mode(backend: str) -> Any:
    """The `mode` argument of `pytensor.function`; None for DEFAULT.

    C and C_VM are built from their linkers: as names they exist only since 2.38.
    """
    if backend == "DEFAULT":
        return None
    if backend in _LINKERS:
        from pytensor.compile.mode import Mode

        return Mode(linker=_LINKERS[backend], optimizer="fast_run")
    if backend == "NUMBA_OPS_ONLY":
        _stop_caching_the_outer_graph()
    return "NUMBA"


def _stop_caching_the_outer_graph() -> None:
    """Ablation: compile the outermost graph without a cache, everything below it with one."""
    from pytensor.link.numba.linker import NumbaLinker

    cached = NumbaLinker.jit_compile

    def jit_compile(self: Any, fn: Any) -> Any:
        if isinstance(fn, tuple):  # (function, cache key), since 2.36
            return cached(self, (fn[0], None))
        from pytensor.link.numba.dispatch.basic import numba_njit

        return numba_njit(fn, no_cpython_wrapper=False, no_cfunc_wrapper=False, cache=False)

    NumbaLinker.jit_compile = jit_compile
