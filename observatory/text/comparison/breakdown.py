"""The verdicts of a comparison, grouped by what they mean for the reader."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from benchmarks.catalogue import CAUSES, CORRECTNESS, FIRST_CAUSES, Cell
from observatory.store.records.comparison import Cause, Comparison, Verdict
from observatory.text.comparison.cells import all_cells
from observatory.text.comparison.phrases import worst

WRONG, CRASHED = CORRECTNESS


@dataclass(frozen=True)
class Breakdown:
    """The groups of one comparison. A cell counts once, by its worst verdict."""

    comparison: Comparison

    @cached_property
    def cells(self) -> set[Cell]:
        """Every cell of the comparison."""
        return all_cells(self.comparison)

    @cached_property
    def worse(self) -> set[Cell]:
        """Cells with an alarm."""
        return {verdict.cell for verdict in self.comparison.worse}

    @cached_property
    def improved(self) -> list[Verdict]:
        """Verdicts of what got better."""
        return [v for v in self.comparison.verdicts if v.conclusion == "better"]

    @cached_property
    def better(self) -> set[Cell]:
        """Cells in which something got better and nothing got worse."""
        return {verdict.cell for verdict in self.improved} - self.worse

    @cached_property
    def unjudged(self) -> set[Cell]:
        """Other cells in which something is missing or undecided."""
        found = {missing.cell for missing in self.comparison.missing}
        found |= {verdict.cell for verdict in self.comparison.undecided}
        return found - self.worse - self.better

    @property
    def unaffected(self) -> set[Cell]:
        """All other cells."""
        return self.cells - self.worse - self.better - self.unjudged

    @cached_property
    def causes(self) -> list[Cause]:
        """The causes: wrong results and crashes first, then by the seconds that they cost."""
        rank = {kind: place for place, kind in enumerate(FIRST_CAUSES)}
        return sorted(self.comparison.causes, key=lambda cause: rank.get(cause.kind, len(rank)))

    @cached_property
    def by_cause(self) -> dict[str, list[Verdict]]:
        """Alarms by the id of the cause that explains them."""
        found: dict[str, list[Verdict]] = {cause.id: [] for cause in self.comparison.causes}
        for verdict in self.comparison.worse:
            if verdict.cause in found:
                found[verdict.cause].append(verdict)
        return found

    @cached_property
    def unexplained(self) -> list[Verdict]:
        """Alarms that no cause explains."""
        return [verdict for verdict in self.comparison.worse if verdict.cause not in self.by_cause]

    @cached_property
    def in_both(self) -> list[Verdict]:
        """Wrong results and crashes of both sides: they are not new, but still reported."""
        return [
            verdict for verdict in self.comparison.verdicts
            if verdict.metric in CORRECTNESS and verdict.conclusion != "worse"
            and worst(verdict.head) > 0
        ]  # fmt: skip


def is_evidence(verdict: Verdict, cause: Cause) -> bool:
    """Whether the cause was found by this verdict; otherwise the verdict is a consequence."""
    known = CAUSES.get(cause.kind)
    return verdict.kind == "exact" or (known is not None and verdict.metric in known.shows_in)
