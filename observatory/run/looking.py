"""Measure described pairs of graphs, and say what became of each."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.described import DescribedPair, DescribedPairs
from observatory.benchmarks.plan import Task
from observatory.benchmarks.typed_json import to_json
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.store.records.sample import Sample

Finding = Literal["", "absent", "wrong", "collided", "unstable", "raised", "died", "limited"]
"""What became of a graph; empty: all is well. `absent`: neither this release nor its Python code
can compute it."""
_MODEL, _LAUNCH, _CACHE = "keys", "spawn", "grown"


@dataclass(frozen=True)
class Found:
    """What became of one graph, and what the sample says of it."""

    finding: Finding
    note: str = ""


@dataclass(frozen=True)
class Looked:
    """What became of the graphs of pairs, by the name of the pair."""

    firsts: Mapping[str, Found]
    """The first graphs, which fill one cache."""
    seconds: Mapping[str, Found]
    """The second graphs, each built from a copy of that cache."""


class LookingError(Exception):
    """A sample of pairs failed as a whole; the text says how."""


def cannot_look(backend: str) -> str | None:
    """Why pairs are not measured with a backend; None: they are."""
    return Cell(_MODEL, "pairs_second", backend, _LAUNCH).problem()


@dataclass
class Looker:
    """Measures pairs in one environment, with one backend."""

    environment: Environment
    backend: str
    scratch: Path
    """A directory for the files of pairs and for caches."""
    timeout: float
    samples: int = field(default=0, init=False)
    """How many samples it has taken."""

    def look(
        self,
        pairs: Mapping[str, DescribedPair],
        firsts: Mapping[str, DescribedPair] | None = None,
    ) -> Looked:
        """Build the first graphs of pairs into one cache, and then the second graphs from it.

        ``firsts``: the pairs whose first graphs are built instead. Raises LookingError if a sample
        fails as a whole, and Cancelled.
        """
        try:
            filled = self._sample("pairs_first", firsts or pairs)
            read = self._sample("pairs_second", pairs)
        finally:
            shutil.rmtree(self.scratch / _CACHE, ignore_errors=True)
        return Looked(filled, read)

    def _sample(self, scenario: str, pairs: Mapping[str, DescribedPair]) -> dict[str, Found]:
        file = self.scratch / f"{scenario}.json"
        file.write_text(to_json(DescribedPairs(dict(pairs))), encoding="utf-8")
        executor = Executor(self.environment, self.scratch.absolute(), self.timeout, graphs=file)
        fills = scenario == "pairs_first"
        cell = Cell(_MODEL, scenario, self.backend, _LAUNCH)
        task = Task(
            cell, "counting", 0, cache=None if fills else _CACHE, keep=_CACHE if fills else None
        )
        sample = executor.run(task)
        self.samples += 1
        if sample.status != "ok":
            why = sample.failure.message if sample.failure else sample.status
            raise LookingError(f"{cell}: {why}")
        return findings(sample)


def findings(sample: Sample) -> dict[str, Found]:
    """Return what became of each graph of a sample of pairs."""
    wrong = {check.name: check.note or "" for check in sample.checks if check.wrong}
    found = {}
    for step in sample.steps:
        if step.status == "ok" and step.name in wrong:
            found[step.name] = Found("wrong", wrong[step.name])
        else:
            found[step.name] = Found("" if step.status == "ok" else step.status, step.note or "")
    return found
