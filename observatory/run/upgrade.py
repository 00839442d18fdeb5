"""One subject after another on one cache: which samples, in which order. Interprets no number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.catalogue import Cell, models_of
from benchmarks.plan import Task
from observatory.run.execute import Executor
from observatory.run.sources import SubjectError
from observatory.store.records.sample import Sample

SCENARIO = "upgrade"


def cells_of(models: Sequence[str] | None, backends: Sequence[str]) -> list[Cell]:
    """The cells to take: every model that a backend has, or those that were named.

    Raises SubjectError where a backend has none, or lacks one that was named.
    """
    cells: list[Cell] = []
    for backend in backends:
        asked = [Cell(name, SCENARIO, backend, "spawn") for name in models or models_of(SCENARIO)]
        problems = [problem for cell in asked if (problem := cell.problem())]
        if problems and (models or len(problems) == len(asked)):
            raise SubjectError(problems[0])
        cells += [cell for cell in asked if cell.problem() is None]
    return cells


@dataclass(frozen=True)
class Turns:
    """The samples of one pair of subjects in one cell."""

    cell: Cell
    fill: Sample
    """Base, from an empty cache."""
    use: Sample | None
    """Head, on base's cache; None if base filled none."""
    again: Sample | None
    """Base, on what head then left."""


@dataclass
class Chain:
    """Takes the samples along subjects, each used on the cache of the one before it.

    All executors share one directory of caches. ``took`` is told of each sample.
    """

    cells: Sequence[Cell]
    took: Callable[[str, Sample], None]

    def first(self, name: str, executor: Executor) -> dict[Cell, Sample]:
        """Fill a cache with the subject that goes before all others."""
        return {
            cell: self._take(name, executor, cell, keep=_fresh(name, cell)) for cell in self.cells
        }

    def turns(
        self,
        base: tuple[str, Executor, dict[Cell, Sample]],
        head: tuple[str, Executor],
    ) -> tuple[list[Turns], dict[Cell, Sample]]:
        """Head on base's cache, then base again; also what head is to the one after it."""
        (base_name, base_executor, filled), (head_name, head_executor) = base, head
        turns, fresh = [], {}
        for cell in self.cells:
            left = f"{head_name}-on-{base_name}-{cell.model}-{cell.backend}"
            use = again = None
            if (base_executor.caches / _fresh(base_name, cell)).is_dir():
                task = Task(
                    cell, "counting", 0,
                    cache=_fresh(base_name, cell), keep=left, keep_fresh=_fresh(head_name, cell),
                )  # fmt: skip
                use = fresh[cell] = self._run(head_name, head_executor, task)
                if (head_executor.caches / left).is_dir():
                    again = self._run(
                        base_name, base_executor, Task(cell, "counting", 0, cache=left)
                    )
            else:
                fresh[cell] = self._take(
                    head_name, head_executor, cell, keep=_fresh(head_name, cell)
                )
            turns.append(Turns(cell, filled[cell], use, again))
        return turns, fresh

    def _take(self, name: str, executor: Executor, cell: Cell, keep: str) -> Sample:
        return self._run(name, executor, Task(cell, "counting", 0, keep_fresh=keep))

    def _run(self, name: str, executor: Executor, task: Task) -> Sample:
        sample = executor.run(task)
        self.took(name, sample)
        return sample


def _fresh(name: str, cell: Cell) -> str:
    return f"{name}-{cell.model}-{cell.backend}"
