"""The work of a comparison: counted until each cell is settled, or until the budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, starmap
from statistics import fmean

from observatory.analyze.comparison.comparing import Setting, floors_for
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.rules import rule_of, wants_more
from observatory.analyze.comparison.verdicts import IncompleteCell, Side
from observatory.analyze.statements import JudgedVerdict, Statement
from observatory.benchmarks.catalogue import METRICS, OF_WORK, Cell, Measure, Metric
from observatory.run.interleave import SIDES, WORK, WORKED, Interleaving, SideName
from observatory.text.words import first_of, several

_NAMED = 3
_CALLS = METRICS["python_calls"]
_METRICS: Mapping[str, Metric] = {name: METRICS[name] for name in OF_WORK}
_COUNTED: Mapping[Measure, str] = {"tracing": "Python calls", WORK: "instructions"}


@dataclass
class WorkCounts:
    """Takes the counts of work of both sides, and knows what the budget left out."""

    evidence: Mapping[SideName, Evidence]
    setting: Setting
    at_once: int
    """Cells of which both sides can be counted at once."""
    traceable: bool
    """Whether both sides have a Python that counts its calls."""
    say: Callable[[str], None]
    warnings: tuple[str, ...] = ()
    """What the budget left out, as sentences."""
    _once: set[tuple[Cell, Measure]] = field(default_factory=set)
    """Where the first counts differ and were not repeated within the budget."""

    def take(self, interleaving: Interleaving, cells: Sequence[Cell], deadline: float) -> bool:
        """Count the Python calls of all cells, which takes seconds each, then the instructions.

        A short budget so gives a verdict on every cell. Instructions are counted until a cell is
        settled before the next ones begin: one count of every cell would prove no change in any of
        them. Cells whose calls changed come first. Returns whether the budget was enough.
        """
        if self.traceable and not self._settle(interleaving, cells, "tracing", deadline):
            return False
        worked = sorted(cells, key=self._calls_changed, reverse=True)
        batches = (worked[at : at + self.at_once] for at in range(0, len(worked), self.at_once))
        return all(self._settle(interleaving, batch, WORK, deadline) for batch in batches)

    def left_out(self, cells: Sequence[Cell]) -> Iterator[IncompleteCell]:
        """The cells whose instructions were not counted, and of which something else is known."""
        for cell in cells:
            lacking = [name for name in SIDES if not self.evidence[name].taken(cell, WORK)]
            if lacking and all(self.evidence[name].taken(cell) for name in SIDES):
                side: Side = "both" if lacking[1:] else lacking[0]
                yield IncompleteCell(cell, side, (Statement("instructions not counted"),))

    def confirmed(self, verdict: JudgedVerdict) -> JudgedVerdict:
        """The verdict, unless it says that work changed and rests on one count of each side."""
        metric = _METRICS.get(verdict.metric)
        once = metric is not None and (verdict.cell, metric.measure) in self._once
        if not once or verdict.conclusion not in ("worse", "better"):
            return verdict
        change = {"conclusion": "undecided", "because": Statement("counted once")}
        return verdict.model_copy(update=change)

    def _settle(
        self, interleaving: Interleaving, cells: Sequence[Cell], measure: Measure, deadline: float
    ) -> bool:
        """One count each; more where these differ, to tell a change from another layout.

        Returns whether the budget was enough.
        """
        for rounds in starmap(range, pairwise((0, *WORKED))):
            named = first_of(list(map(str, cells)), _NAMED, "cell")
            if not interleaving.work(cells, measure, rounds, deadline):
                self._left(cells, measure)
                return False
            cells = [cell for cell in cells if self._unsettled(cell, measure)]
            more = several(len(cells), "cell") if cells and rounds.stop < WORKED[-1] else ""
            again = f"; {more} to be counted again" if more else ""
            counts = f"{several(rounds.stop, 'count')} of {_COUNTED[measure]} on each side"
            self.say(f"{named}: {counts}{again}")
            if not cells:
                break
        return True

    def _left(self, cells: Sequence[Cell], measure: Measure) -> None:
        """Note which cells the budget left with one count a side, and which with too few."""
        counts = {
            cell: min(len(side.taken(cell, measure)) for side in self.evidence.values())
            for cell in cells
        }
        self._once.update((cell, measure) for cell, count in counts.items() if count == 1)
        few = [
            cell for cell, count in counts.items() if count > 1 and self._unsettled(cell, measure)
        ]
        if few:
            named = first_of(list(map(str, few)), _NAMED, "cell")
            why = "the budget ended before small changes of work were counted again"
            said = f"{named} was judged by fewer than {WORKED[-1]} samples a side"
            self.warnings += (f"{why}: {said}",)

    def _unsettled(self, cell: Cell, measure: Measure) -> bool:
        """Whether more counts of its work may change a verdict."""
        floors = floors_for(self.setting)
        for metric in (one for one in _METRICS.values() if one.measure == measure):
            noise = floors.noise(cell, metric.name)
            source = self.evidence["head"].source(cell, metric)
            rule = rule_of(metric, cell.scenario, noise, source)
            if wants_more(rule, *self._values(cell, metric)):
                return True
        return False

    def _calls_changed(self, cell: Cell) -> float:
        """By how much its Python calls changed, relatively; 0 below their floor, or unknown."""
        base, head = self._values(cell, _CALLS)
        if not (base and head) or min(*base, *head) <= 0:
            return 0.0
        by = fmean(head) / fmean(base)
        changed = max(by, 1 / by) - 1
        return changed if changed >= (_CALLS.material or 0.0) else 0.0

    def _values(self, cell: Cell, metric: Metric) -> tuple[Sequence[float], Sequence[float]]:
        base, head = (self.evidence[name].values(cell, metric).values for name in SIDES)
        return base, head
