"""How many functions a cache no longer gives: a subject's ledger beside that of the first one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.ledgers import reuse_lost
from observatory.app.probing import Prober, searchable
from observatory.app.session import Session
from observatory.app.timed import TimedProber
from observatory.benchmarks.catalogue import REUSE_LOST, Cell
from observatory.run.environments import NO_PINS
from observatory.store.records.sample import LedgerEntry, Sample
from observatory.store.records.subject import Subject


@dataclass
class LostProber(Prober):
    """Counts the functions that the first subject reuses and another one compiles again."""

    first: Subject | None = None
    base: Sequence[LedgerEntry] | None = field(default=None, repr=False)
    """The ledger of the first subject. Both sides of a change are measured again in results of
    their own, which do not have it."""

    with_ledgers: ClassVar[bool] = True

    def value(self, subject: Subject, pins: Mapping[str, str] = NO_PINS) -> float | None:
        """Measure a subject, and the first one before it, unless their ledgers are recorded."""
        if self._ledger_of_first() is None and self.first is not None and subject != self.first:
            super().value(self.first)
        known = self.recorded([subject])
        return known[0] if known else super().value(subject, pins)

    def median(self, samples: Sequence[Sample]) -> float | None:
        """None also for a subject that asks its caches for functions of other names."""
        base, own = self._ledger_of_first(), Evidence.of(samples).ledgers(self.cell)
        verdict = None if base is None else reuse_lost(self.cell, base, own)
        if verdict is None or verdict.because is not None:
            return None
        return max(verdict.head.values)

    def _ledger_of_first(self) -> Sequence[LedgerEntry] | None:
        if self.base is None and self.first is not None:
            found = (
                Evidence.of(one.samples).ledger(self.cell) for one in self.every_saved(self.first)
            )
            self.base = next((one for one in found if one is not None), None)
        return self.base


def prober_of(
    session: Session, cell: Cell, metric: str, ends: tuple[Subject, Subject], *, noisy: bool = False
) -> Prober:
    """What measures the metric of one subject after another, between two ends.

    ``noisy``: whether it may be one that a few samples do not tell. Raises SubjectError if the cell
    or the metric cannot be measured.
    """
    how = searchable(metric, cell, noisy=noisy)
    if how.name == REUSE_LOST.name:
        return LostProber(session, cell, how, first=ends[0])
    if how.kind == "noisy":
        return TimedProber(session, cell, how, first=ends[0], last=ends[1])
    return Prober(session, cell, how)
