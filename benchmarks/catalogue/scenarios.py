"""The scenarios, one record each.

What a scenario does is in `benchmarks.scenarios` (in the measured process) and, where it takes
several processes, in `benchmarks.siblings` or `benchmarks.upgrading`. asv finds it as a class of
the module that its record names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from benchmarks.catalogue.words import LAUNCHES

FORKS_LIMITS = 6
"""How many time limits a process has that forks a child for each graph."""
_SPAWN_OR_FORK = ("fork", "spawn")


@dataclass(frozen=True)
class Scenario:
    """One scenario."""

    name: str
    meaning: str
    family: str
    """The group with the same models, metrics and way of measuring: build, variants, siblings,
    upgrade, sampling, path, census, pairs, key_making, growth or call."""
    seconds: Mapping[str, float]
    """How long a sample of the model radon takes, by backend. On a 2-core machine of 2026 with
    PyTensor 3.3; only the proportions matter."""
    more_backends: tuple[str, ...] = ()
    """Backends that it is measured with besides, whose times follow from those of others."""
    launches: tuple[str, ...] = _SPAWN_OR_FORK
    suite: str = "compile"
    """The module of `benchmarks` that has its asv class."""
    headline: str = "compile_time"
    """The metric of the time that a user waits."""
    filled_by: str = ""
    """The scenario whose sample fills the cache it starts from; empty: it starts from none."""
    warm: bool = False
    """Whether that cache must be filled. Then a miss is an alarm."""
    warm_ups: int = 0
    """How often the process builds before the build that is measured."""
    matrix: bool = False
    """Whether it is measured for every subject and shown in the matrix."""
    quick: bool = False
    """Whether the preset `quick` takes it."""
    timed: bool = False
    """Whether `compare` times it by default, and the preset `history` several times."""
    long: bool = False
    """Whether counting takes minutes. For C modules it adds nothing to a cold or warm build, so it
    is measured with them only on request."""
    arrangement: str = "in turn"
    """How siblings are started: see `benchmarks.forking`."""
    reseeded: bool = False
    """Whether siblings have other hash seeds than their start method gives them."""
    apart: bool = False
    """Whether all graphs of the model are built, each in a fork of its own of one process."""
    walked: bool = False
    """Whether the members of a model are steps of a user of PyMC, and not graphs. The backend is
    PyTensor's default then: not everything that PyMC compiles takes a mode."""
    emptied: bool = False
    """Whether the caches are emptied after each of these graphs, which otherwise share them."""
    of_pair: Literal["", "first", "second", "keys"] = ""
    """Which graph of each pair is built, where the members of a model are pairs; `keys`: none, and
    the keys of both are compared."""
    tells: str = ""
    """The metric of each graph whose value the page of the census shows; empty: what became of
    the graph in the cache."""
    compared: bool = False
    """Whether every comparison and the canary take it of the quick sets."""

    @property
    def backends(self) -> tuple[str, ...]:
        """The backends that it is measured with; not in order."""
        return (*self.seconds, *self.more_backends)

    @property
    def from_empty(self) -> bool:
        """Whether it builds from an empty cache, in one process."""
        return self.family in ("build", "variants") and not self.filled_by

    @property
    def covers_ops(self) -> bool:
        """Whether it can say which Ops of a release no graph has: it builds each graph first."""
        return self.family == "census" and not self.filled_by

    @property
    def told(self) -> bool:
        """Whether the census tells what became of each graph in it, and not in a later one."""
        told = self.filled_by or self.of_pair == "keys" or self.tells
        return self.apart and not self.walked and bool(told)

    @property
    def limits(self) -> int:
        """How many time limits of one process a sample may take.

        Siblings are at most ten processes. A process that forks for each graph has several limits,
        and suspect graphs are built once more.
        """
        if self.apart:
            return FORKS_LIMITS + 4
        return 10 if self.family == "siblings" else 2

    def seconds_with(self, backend: str) -> float:
        """How long a sample takes; with a backend that nobody measured, as long as the longest."""
        return self.seconds.get(backend, max(self.seconds.values()))


_CACHE_ABLATIONS = ("NUMBA_OPS_ONLY", "NUMBA_NO_CACHE")
_WARM_SECONDS = {"C": 1.6, "C_VM": 1.8, "NUMBA": 2.6, "JAX": 5.0}
_SIBLINGS_SECONDS = {"C": 40.0, "C_VM": 40.0, "NUMBA": 35.0}
_CENSUS_SECONDS = {"C_VM": 240.0, "NUMBA": 120.0}
_PATH_SECONDS = {"C_VM": 180.0, "NUMBA": 150.0}
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
        {"C": 4.5, "C_VM": 12.0, "NUMBA": 7.5, "JAX": 5.0},
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
    Scenario(
        "path_cold",
        "each step of a user of PyMC is taken by a fork of one process; they fill one cache",
        "path",
        _PATH_SECONDS,
        launches=("spawn",),
        suite="canary",
        headline="step_time",
        apart=True,
        walked=True,
    ),
    Scenario(
        "path_warm",
        "each step is taken by a fork of a fresh process, with a copy of the cache that "
        "`path_cold` filled",
        "path",
        {name: seconds / 2 for name, seconds in _PATH_SECONDS.items()},
        launches=("spawn",),
        suite="canary",
        headline="step_time",
        filled_by="path_cold",
        warm=True,
        apart=True,
        walked=True,
    ),
    Scenario(
        "census_cold",
        "every graph of a model is built by a fork of one process; they fill one cache",
        "census",
        _CENSUS_SECONDS,
        suite="canary",
        long=True,
        apart=True,
        compared=True,
    ),
    Scenario(
        "census_warm",
        "every graph is built by a fork of a fresh process, with a copy of the cache that "
        "`census_cold` filled",
        "census",
        {name: seconds / 5 for name, seconds in _CENSUS_SECONDS.items()},
        suite="canary",
        filled_by="census_cold",
        warm=True,
        long=True,
        apart=True,
        compared=True,
    ),
    Scenario(
        "pairs_first",
        "the first graph of every pair is built by a fork of one process; they fill one cache",
        "pairs",
        _CENSUS_SECONDS,
        suite="canary",
        long=True,
        apart=True,
        of_pair="first",
    ),
    Scenario(
        "pairs_second",
        "the second graph of every pair is built by a fork of a fresh process, with a copy of the "
        "cache that `pairs_first` filled",
        "pairs",
        _CENSUS_SECONDS,
        suite="canary",
        filled_by="pairs_first",
        long=True,
        apart=True,
        of_pair="second",
    ),
    Scenario(
        "pairs_keys",
        "the keys of both graphs of every pair are compared by a fork of one process; a pair whose "
        "keys are suspect is built as by `pairs_first` and `pairs_second`",
        "pairs",
        {"NUMBA": 25.0},
        suite="canary",
        long=True,
        apart=True,
        of_pair="keys",
        compared=True,
    ),
    Scenario(
        "key_making",
        "every graph is converted by a fork of one process, which makes its keys; nothing is "
        "compiled or called",
        "key_making",
        {"NUMBA": 10.0},
        suite="canary",
        headline="key_time",
        long=True,
        apart=True,
        tells="key_calls",
    ),
    Scenario(
        "growth",
        "every size of every family is built and called by a fork of one process, each with an "
        "empty cache",
        "growth",
        {"C_VM": 90.0, "NUMBA": 120.0},
        launches=("spawn",),
        suite="canary",
        headline="cpu_time",
        long=True,
        apart=True,
        emptied=True,
    ),
    Scenario(
        "call",
        "evaluations of a compiled function",
        "call",
        {"C": 2.5, "C_VM": 2.5, "NUMBA": 3.0, "JAX": 5.0},
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
WARM_SCENARIOS = tuple(o.name for o in _ALL if o.warm and o.family in ("build", "path", "census"))
"""The scenarios that build from a cache that was filled for them: a miss is an alarm."""
MATRIX_SCENARIOS = tuple(one.name for one in _ALL if one.matrix)
MATRIX_LAUNCHES = _SPAWN_OR_FORK
"""What is measured of every subject alone; other siblings are the canary's."""
