"""What each step of the path took, of a subject: small enough to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from observatory.benchmarks.catalogue import SCENARIOS
from observatory.store.journal.models import JournalEntry
from observatory.store.journal.values import latest_runs
from observatory.store.records.sample import Build


@dataclass(frozen=True, config=ConfigDict(defer_build=True))
class StepTaken:
    """One step: what the counting pass and the timing pass say of it."""

    name: str
    status: str = "ok"
    note: str = ""
    """Why the status is not `ok`."""
    compiled: tuple[str, ...] = ()
    """Who asked for each PyTensor function that was compiled."""
    metrics: Mapping[str, float] | None = None
    """By name; None where no pass gave any."""

    @property
    def wrong(self) -> bool:
        """Whether a result of it is not that of the reference."""
        return bool(self.metrics and self.metrics.get("wrong_results"))


Walks: TypeAlias = Mapping[str, Sequence[StepTaken]]
"""By cell, in words, its steps."""


def walks_of(entries: Iterable[JournalEntry]) -> Walks:
    """The steps by cell, from the cell's first good sample of each pass.

    ``entries`` are comparable samples of one subject.
    """
    passes: dict[str, dict[str, Sequence[Build]]] = {}
    for entry in latest_runs(entries):
        sample = entry.sample
        known = SCENARIOS.get(sample.cell.scenario)
        if known is not None and known.walked and sample.status == "ok":
            passes.setdefault(str(sample.cell), {}).setdefault(sample.measure, sample.steps)
    return {cell: _united(found) for cell, found in passes.items()}


def _united(passes: Mapping[str, Sequence[Build]]) -> list[StepTaken]:
    """The steps of a cell with the metrics of all passes. What one pass lacks, others may have."""
    found: dict[str, StepTaken] = {}
    for measure in sorted(passes):  # counting comes first: only it knows who asked
        for step in passes[measure]:
            known = found.get(step.name)
            if known is None:
                metrics = dict(step.metrics)
                note = " ".join((step.note or "").split())[:300]
                found[step.name] = StepTaken(
                    step.name, step.status, note, tuple(step.compiled), metrics
                )
            else:
                metrics = {**step.metrics, **(known.metrics or {})}
                found[step.name] = StepTaken(
                    known.name, known.status, known.note, known.compiled, metrics
                )
    return list(found.values())
