"""The record of a fault: what it is, and what a comparison with and without it must find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from observatory.benchmarks.catalogue import Cell
from observatory.store.records.comparison import CauseKind

BOTH = ("fork", "spawn")
Class = Literal[
    "stability", "uniqueness", "staleness", "loading", "storing", "locking", "leaking",
    "correctness after reload", "time", "work", "memory", "imports", "randomness",
    "start methods", "flags",
]  # fmt: skip
"""What a fault harms."""


@dataclass(frozen=True)
class Alarms:
    """Metrics that worsen in all these scenarios, backends and start methods."""

    metrics: tuple[str, ...]
    scenarios: tuple[str, ...]
    backends: tuple[str, ...]
    launches: tuple[str, ...] = BOTH

    def cover(self, cell: Cell, metric: str) -> bool:
        """Whether this metric of this cell is one of them."""
        return (
            metric in self.metrics
            and cell.scenario in self.scenarios
            and cell.backend in self.backends
            and cell.launch in self.launches
        )


@dataclass(frozen=True)
class Fault:
    """One fault, and what a comparison of a release with and without it must find."""

    name: str
    meaning: str
    cause: CauseKind | None
    """The cause that must be named; None where nothing is worse."""
    must: tuple[Alarms, ...]
    """Alarms that must be raised in every such cell; empty: nothing may be worse."""
    may: tuple[Alarms, ...] = ()
    """Alarms that may follow from the fault."""
    functions: tuple[str, ...] = ()
    """The functions that the cause must list, and no others; empty: not checked."""
    main_part: str = ""
    """What the first reason of an alarm must name: a phase, a rewriter or a function."""
    remark: str = ""
    """The part that a remark must name where nothing is worse."""
    options: tuple[str, ...] = ()
    """Options of `compare` with which it is found, where the default ones do not."""
    or_else: tuple[str, ...] = ()
    """Further causes that are as right as `cause`."""

    def expects(self, cell: Cell, metric: str) -> Literal["must", "may", "never"]:
        """Whether an alarm on this metric of this cell must, may or must never be raised."""
        if any(alarms.cover(cell, metric) for alarms in self.must):
            return "must"
        return "may" if any(alarms.cover(cell, metric) for alarms in self.may) else "never"
