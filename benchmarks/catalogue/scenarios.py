"""The scenarios, one record each.

What a scenario does is in `benchmarks.scenarios` (in the measured process) and, where it takes
several processes, in `benchmarks.shared_cache`. asv finds it as a class of
the module that its record names.
"""

from __future__ import annotations

from collections.abc import Mapping

from .apart import APART
from .scenario import SPAWN_OR_FORK, Scenario
from .words import LAUNCHES

_CACHE_ABLATIONS = ("NUMBA_OPS_ONLY", "NUMBA_NO_CACHE")
_WARM_SECONDS = {"C": 1.6, "C_VM": 1.8, "NUMBA": 2.6, "JAX": 5.0, "PYTORCH": 45.0, "MLX": 8.0}
_SIBLINGS_SECONDS = {"C": 40.0, "C_VM": 40.0, "NUMBA": 35.0}
_SAMPLING_SECONDS = {"C_VM": 25.0, "NUMBA": 25.0}


def _siblings(
    name: str,
    meaning: str,
    launches: tuple[str, ...] = ("fork",),
    arrangement: str = "in turn",
    reseeded: bool = False,
) -> Scenario:
    """One of the canary's arrangements."""
    return Scenario(
        name, meaning, "siblings", _SIBLINGS_SECONDS, ("DEFAULT",), launches, "canary", long=True,
        arrangement=arrangement, reseeded=reseeded,
    )  # fmt: skip


_ALL = (
    Scenario(
        "cold",
        "a fresh process with an empty disk cache",
        "build",
        {"C": 4.5, "C_VM": 12.0, "NUMBA": 7.5, "JAX": 5.0, "PYTORCH": 90.0, "MLX": 60.0},
        ("DEFAULT", "JAX_CACHED"),
        matrix=True,
        quick=True,
    ),
    Scenario(
        "warm_disk",
        "a fresh process with a copy of a filled cache",
        "build",
        _WARM_SECONDS,
        ("DEFAULT", "JAX_CACHED"),
        filled_by="cold",
        warm=True,
        matrix=True,
        quick=True,
        timed=True,
    ),
    Scenario(
        "warm_process",
        "the second build in one process, with a copy of a filled cache",
        "build",
        _WARM_SECONDS,
        ("DEFAULT", "JAX_CACHED", *_CACHE_ABLATIONS),
        filled_by="cold",
        warm=True,
        warm_ups=1,
        matrix=True,
        quick=True,
        timed=True,
    ),
    Scenario(
        "variants",
        "one process with an empty cache builds the base, then its eight variants in order",
        "variants",
        {"C": 24.0, "C_VM": 22.0, "NUMBA": 20.0},
        ("DEFAULT", *_CACHE_ABLATIONS),
        matrix=True,
        quick=True,
        long=True,
    ),
    Scenario(
        "siblings",
        "siblings store one graph each in a shared cache, in turn; a fresh process reads all",
        "siblings",
        _SIBLINGS_SECONDS,
        ("DEFAULT",),
        launches=tuple(LAUNCHES),
        matrix=True,
        long=True,
    ),
    _siblings(
        "siblings_at_once",
        "siblings that build at the same time",
        launches=tuple(LAUNCHES),
        arrangement="at once",
    ),
    _siblings(
        "siblings_nested",
        "siblings that each fork another process before they build",
        arrangement="nested",
    ),
    _siblings(
        "siblings_after_build",
        "siblings of a parent that built a graph before it forked",
        arrangement="after a build",
    ),
    _siblings(
        "siblings_threads",
        "siblings of a parent whose threads run while it forks",
        arrangement="beside threads",
    ),
    _siblings(
        "siblings_reseeded",
        "siblings with swapped hash seeds: with fork the reader has another seed; with spawn "
        "all share one",
        launches=tuple(LAUNCHES),
        reseeded=True,
    ),
    Scenario(
        "upgrade",
        "a fresh process with a copy of the cache that another subject left",
        "upgrade",
        {"C": 60.0, "C_VM": 60.0, "NUMBA": 60.0},
        launches=("spawn",),
        suite="canary",
    ),
    Scenario(
        "sampling_cold",
        "pm.sample of a small radon model in two processes, with an empty disk cache",
        "sampling",
        _SAMPLING_SECONDS,
        launches=tuple(LAUNCHES),
        suite="canary",
        headline="first_draw_time",
    ),
    Scenario(
        "sampling_warm",
        "the same with a copy of a filled cache",
        "sampling",
        _SAMPLING_SECONDS,
        launches=tuple(LAUNCHES),
        suite="canary",
        headline="first_draw_time",
        filled_by="sampling_cold",
        warm=True,
    ),
    *APART,
    Scenario(
        "call",
        "evaluations of a compiled function",
        "call",
        {"C": 2.5, "C_VM": 2.5, "NUMBA": 3.0, "JAX": 5.0, "PYTORCH": 40.0, "MLX": 8.0},
        ("C_VM_NOGC", "DEFAULT", "JAX_CACHED"),
        suite="call",
        headline="call_time",
        filled_by="cold",
        matrix=True,
        quick=True,
        timed=True,
    ),
)
SCENARIOS: Mapping[str, Scenario] = {one.name: one for one in _ALL}
SIBLINGS = tuple(one.name for one in _ALL if one.family == "siblings")
"""The scenarios in which several processes fill one cache: those of the canary."""
PATH = tuple(one.name for one in _ALL if one.family == "path")
SAMPLING = tuple(one.name for one in _ALL if one.family == "sampling")
BUILDS = tuple(one.name for one in _ALL if one.family == "build")
FIRST_BUILDS = tuple(one.name for one in _ALL if one.family == "build" and not one.filled_by)
"""The scenarios of one build from an empty cache: its ledger has everything that is compiled."""
WARM_SCENARIOS = tuple(o.name for o in _ALL if o.warm and o.family in ("build", "path", "census"))
"""The scenarios that build from a cache that was filled for them: a miss is an alarm."""
MATRIX_SCENARIOS = tuple(one.name for one in _ALL if one.matrix)
MATRIX_LAUNCHES = SPAWN_OR_FORK
"""What is measured of every subject alone; other siblings are the canary's."""
