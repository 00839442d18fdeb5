"""What was generated and found: as values, as an exit status, and as a file in the results."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from observatory.benchmarks.described import DescribedPair
from observatory.errors import Exit
from observatory.store.base.files import write_atomic
from observatory.store.records import layout

_WRONG = ("wrong", "collided")


@dataclass(frozen=True)
class Counterexample:
    """A pair with which something is not as it must be."""

    name: str
    finding: str
    note: str
    pair: DescribedPair
    after: int
    """How many pairs had been generated when it was found."""
    shrunk: bool
    """Whether it was made smaller, and is a counterexample on its own."""
    known: bool = False
    """Whether a counterexample of this name is kept already."""


@dataclass
class Explored:
    """What was tried, and what was found."""

    subject: str
    backend: str
    seed: int
    started_at: str
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
    """Write what was tried and found as a file of its own, below the results."""
    when = re.sub(r"[^0-9T]", "", found.started_at.partition("+")[0])
    subject = re.sub(r"[^A-Za-z0-9.]+", "-", found.subject)[:60]
    path = results / layout.EXPLORED / f"{when}-{subject}-{found.backend}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    written = {"schema": "observatory/explored/1", **asdict(found)}
    write_atomic(path, f"{json.dumps(written, indent=1)}\n".encode())
