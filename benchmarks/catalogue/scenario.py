"""The record of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

FORKS_LIMITS = 6
"""How many time limits a process has that forks a child for each graph."""
SPAWN_OR_FORK = ("fork", "spawn")


@dataclass(frozen=True)
class Scenario:
    """One scenario."""

    name: str
    meaning: str
    family: str
    """The group with the same models, metrics and way of measuring: build, variants, siblings,
    upgrade, sampling, path, census, topics, pairs, key_making, freezing, growth or call."""
    seconds: Mapping[str, float]
    """How long a sample of the model radon takes, by backend. On a 2-core machine of 2026 with
    PyTensor 3.3; only the proportions matter."""
    more_backends: tuple[str, ...] = ()
    """Backends that it is measured with besides, whose times follow from those of others."""
    launches: tuple[str, ...] = SPAWN_OR_FORK
    suite: str = "compile"
    """The module of `benchmarks` that has its asv class. It is a part of the names under which
    results are stored, and stays."""
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
    tells: tuple[str, ...] = ()
    """The metrics of each graph whose values the page of the census shows; empty: what became of
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
    def in_census(self) -> bool:
        """Whether the census takes it, which builds also a pair whose keys are as they should be.

        The path, graphs that grow and topics have presets of their own.
        """
        return self.family in ("census", "pairs", "key_making") and self.of_pair != "keys"

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
