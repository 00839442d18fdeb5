"""A comparison's verdicts, grouped by what they mean for the reader, and its cells in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from operator import attrgetter

from observatory.analyze.series_keys import place_order
from observatory.benchmarks.catalogue import (
    BACKENDS,
    CAUSES,
    CORRECTNESS,
    FIRST_CAUSES,
    LAUNCHES,
    METRICS,
    MODELS,
    QUICK_MODELS,
    SCENARIOS,
    WARM_SCENARIOS,
    Cell,
)
from observatory.store.records.comparison import Cause, Comparison, Verdict
from observatory.text.comparison.phrases import enumerated, joined, name, rest_of, worst
from observatory.text.document import Name, Piece, Words
from observatory.text.units import count
from observatory.text.words import known_first, several

WRONG, CRASHED = CORRECTNESS
TOLD_IF_SAME = {name: one.even_if_same for name, one in METRICS.items() if one.even_if_same}
"""How a text on a metric begins that is told even where both sides are the same."""
_NAMED_CELLS = 3
_NAMED_WORDS = 7
_NAMED_GROUPS = 6
_AXES: dict[str, Mapping[str, object]] = {
    "model": MODELS, "scenario": SCENARIOS, "backend": BACKENDS, "launch": LAUNCHES,
}  # fmt: skip


@dataclass(frozen=True)
class Breakdown:
    """The groups of one comparison. A cell counts once, by its worst verdict."""

    comparison: Comparison

    @cached_property
    def cells(self) -> set[Cell]:
        """Every cell that was judged or is missing."""
        judged = {verdict.cell for verdict in self.comparison.verdicts}
        return judged | {missing.cell for missing in self.comparison.missing}

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
        """Cells in which something got better, nothing got worse and everything was judged."""
        return {verdict.cell for verdict in self.improved} - self.worse - self.unjudged

    @cached_property
    def unjudged(self) -> set[Cell]:
        """Other cells in which something is missing or undecided."""
        found = {missing.cell for missing in self.comparison.missing}
        found |= {verdict.cell for verdict in self.comparison.undecided}
        return found - self.worse

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
        """Wrong values and crashes of both sides: they are not new, but still reported."""
        return [
            verdict for verdict in self.comparison.verdicts
            if verdict.metric in TOLD_IF_SAME and verdict.conclusion != "worse"
            and worst(verdict.head) > 0
        ]  # fmt: skip


def is_evidence(verdict: Verdict, cause: Cause) -> bool:
    """Whether the cause was found by this verdict; otherwise the verdict is a consequence."""
    known = CAUSES.get(cause.kind)
    return verdict.kind == "exact" or (known is not None and verdict.metric in known.shows_in)


@dataclass(frozen=True)
class Labels:
    """The names of cells: without the model where the comparison has only one."""

    model: str | None
    every: frozenset[Cell]
    """All cells of the comparison."""

    @classmethod
    def of(cls, comparison: Comparison) -> Labels:
        """The labels of a comparison's cells."""
        every = Breakdown(comparison).cells
        models = {cell.model for cell in every}
        # Every comparison has the quick sets: they alone are named, and not the model beside them.
        models = models - set(QUICK_MODELS) or models
        return cls(models.pop() if len(models) == 1 else None, frozenset(every))

    def cell(self, cell: Cell) -> Name:
        """One cell: `warm_disk NUMBA fork`."""
        words = (cell.scenario, cell.backend, cell.launch)
        shown = words if cell.model == self.model else (cell.model, *words)
        return name(" ".join(shown))

    def cells(self, cells: Collection[Cell]) -> Words:
        """Several cells, by their axes: "`cold` · `C` and `NUMBA` · `spawn`; `call C fork`"."""
        chosen = set(cells)
        if len(chosen) < 2:
            return (self.cell(chosen.pop()),) if chosen else ("no cell",)
        if whole := self._whole(chosen):
            return whole
        # Scenarios with the same backends and start methods come together; within these, backends
        # with the same start methods.
        groups = [
            group for outer in _merged(chosen, "scenario") for group in _merged(outer, "backend")
        ]
        rest = sum(map(len, groups[_NAMED_GROUPS:]))
        return joined((*map(self._group, groups[:_NAMED_GROUPS]), *rest_of(rest, 0, "cell")))

    def crowd(self, cells: set[Cell]) -> Words:
        """The cell, or how many there are, for a headline: "4 warm cells of `NUMBA`"."""
        if len(cells) == 1:
            return (self.cell(next(iter(cells))),)
        if whole := self._whole(cells):
            return whole
        scenarios = {cell.scenario for cell in cells}
        backends = known_first((cell.backend for cell in cells), BACKENDS)
        words: list[Piece] = [several(len(cells), "cell")]
        if len(scenarios) == 1:
            words = [f"{count(len(cells))} ", name(scenarios.pop()), " cells"]
        elif scenarios <= set(WARM_SCENARIOS):
            words = [several(len(cells), "warm cell")]
        if len(backends) <= 2:
            words += [" of ", *enumerated([name(word) for word in backends], 2, "backend")]
        return tuple(words)

    def _group(self, cells: list[Cell]) -> Words:
        """A group of cells: axis by axis if they are all combinations, else by their names."""
        axes = [
            known_first((getattr(cell, axis) for cell in cells), known)
            for axis, known in _AXES.items()
            if axis != "model" or {cell.model for cell in cells} != {self.model}
        ]
        if len(cells) == 1 or prod(map(len, axes)) != len(cells):
            return enumerated([self.cell(cell) for cell in cells], _NAMED_CELLS, "cell")
        words: list[Piece] = []
        for axis in axes:
            words += [" · ", *enumerated([name(word) for word in axis], _NAMED_WORDS, "word")]
        return tuple(words[1:])

    def _whole(self, cells: set[Cell]) -> Words:
        """Every cell, or every cell of one backend; empty where some are left out."""
        if cells >= self.every:
            return ("every cell",)
        backends = {cell.backend for cell in cells}
        if len(backends) > 1:
            return ()
        (backend,) = backends
        own = {cell for cell in self.every if cell.backend == backend}
        return ("every cell of ", name(backend)) if own and cells >= own else ()


def _merged(cells: Collection[Cell], axis: str) -> list[list[Cell]]:
    """The cells in groups: words of an axis come together that have the same other words."""
    by_word: dict[str, list[Cell]] = defaultdict(list)
    words = attrgetter(*_AXES)
    for cell in sorted(cells, key=lambda cell: place_order(words(cell))):
        by_word[getattr(cell, axis)].append(cell)
    rest = [other for other in _AXES if other != axis]
    groups: dict[frozenset[tuple[str, ...]], list[Cell]] = defaultdict(list)
    for found in by_word.values():
        key = frozenset(tuple(getattr(cell, other) for other in rest) for cell in found)
        groups[key] += found
    return list(groups.values())
