"""Cells in words: one by its name, several by what they have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod

from benchmarks.catalogue import BACKENDS, LAUNCHES, MODELS, SCENARIOS, WARM_SCENARIOS, Cell
from observatory.store.records.comparison import Comparison
from observatory.text.comparison.phrases import enumerated, joined, name, rest_of
from observatory.text.document import Name, Piece, Words
from observatory.text.units import count
from observatory.text.words import known_first, several

_NAMED_CELLS = 3
_NAMED_WORDS = 7
_NAMED_GROUPS = 6
_AXES: dict[str, Mapping[str, object]] = {
    "model": MODELS, "scenario": SCENARIOS, "backend": BACKENDS, "launch": LAUNCHES,
}  # fmt: skip


@dataclass(frozen=True)
class Labels:
    """The names of cells: without the model where the comparison has only one."""

    model: str | None
    every: frozenset[Cell]
    """All cells of the comparison."""

    @classmethod
    def of(cls, comparison: Comparison) -> Labels:
        """The labels of a comparison's cells."""
        every = all_cells(comparison)
        models = {cell.model for cell in every}
        return cls(models.pop() if len(models) == 1 else None, frozenset(every))

    def cell(self, cell: Cell) -> Name:
        """One cell: `warm_disk NUMBA fork`."""
        words = (cell.scenario, cell.backend, cell.launch)
        shown = words if self.model is not None else (cell.model, *words)
        return name(" ".join(shown))

    def cells(self, cells: Collection[Cell]) -> Words:
        """Several cells, by their axes: "`cold` · `C` and `NUMBA` · `spawn`; `call C fork`"."""
        chosen = set(cells)
        if len(chosen) < 2:
            return (self.cell(chosen.pop()),) if chosen else ("no cell",)
        if whole := self._whole(chosen):
            return whole
        groups = _alike(chosen)
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
            if axis != "model" or self.model is None
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


def all_cells(comparison: Comparison) -> set[Cell]:
    """Every cell that was judged or is missing."""
    judged = {verdict.cell for verdict in comparison.verdicts}
    return judged | {missing.cell for missing in comparison.missing}


def in_order(cells: Collection[Cell]) -> list[Cell]:
    """Cells in the order of the vocabulary, unknown words last."""
    orders = {
        axis: {word: place for place, word in enumerate(known)} for axis, known in _AXES.items()
    }

    def place(cell: Cell) -> list[tuple[int, str]]:
        words = {axis: getattr(cell, axis) for axis in _AXES}
        return [(orders[axis].get(word, len(orders[axis])), word) for axis, word in words.items()]

    return sorted(set(cells), key=place)


def _alike(cells: Collection[Cell]) -> list[list[Cell]]:
    """Cells in groups that one phrase names.

    Scenarios with the same backends and start methods come together; within these, backends with
    the same start methods.
    """
    return [group for outer in _merged(cells, "scenario") for group in _merged(outer, "backend")]


def _merged(cells: Collection[Cell], axis: str) -> list[list[Cell]]:
    by_word: dict[str, list[Cell]] = defaultdict(list)
    for cell in in_order(cells):
        by_word[getattr(cell, axis)].append(cell)
    rest = [other for other in _AXES if other != axis]
    groups: dict[frozenset[tuple[str, ...]], list[Cell]] = defaultdict(list)
    for found in by_word.values():
        key = frozenset(tuple(getattr(cell, other) for other in rest) for cell in found)
        groups[key] += found
    return list(groups.values())
