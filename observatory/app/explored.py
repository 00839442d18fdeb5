"""What was generated and found: as values, as an exit status, and as a file in the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from observatory.errors import Exit
from observatory.store.records import explored
from observatory.store.records.explored import Counterexample, Exploration

_WRONG = ("wrong", "collided")


@dataclass
class Explored:
    """What was tried, and what was found."""

    subject: str
    backend: str
    seed: int
    started_at: datetime
    versions: Mapping[str, str | None] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)
    """How many pairs were measured, by what their graphs differ in."""
    absent: int = 0
    """Pairs that were not judged: the release has no such graph, or its Python code raises."""
    batches: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    found: list[Counterexample] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """Batches that could not be measured, each with the reason."""

    @property
    def pairs(self) -> int:
        """How many pairs were measured."""
        return sum(self.tried.values())

    @property
    def new(self) -> list[Counterexample]:
        """The counterexamples that were not known."""
        return [one for one in self.found if not one.known]

    @property
    def exit_code(self) -> Exit:
        """The status of the command: only what is new counts."""
        if any(one.finding in _WRONG for one in self.new):
            return Exit.WRONG_RESULTS
        if self.new:
            return Exit.COUNTEREXAMPLES
        return Exit.SAMPLE_FAILED if self.failed else Exit.OK


def record(found: Explored, results: Path) -> None:
    """Write what was tried and found as a file of its own, below the results. Raises OSError."""
    bounded = {
        "found": found.found[: explored.MOST_FOUND],
        "failed": [reason[:1_000] for reason in found.failed],
    }
    explored.save(results, Exploration(**{**vars(found), **bounded}))
