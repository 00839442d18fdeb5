"""One subject after another on the same cache: which samples are taken, in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from observatory.benchmarks.catalogue import Cell, models_of
from observatory.benchmarks.plan import Task
from observatory.guard.verdicts import part
from observatory.run.execute import Executor
from observatory.run.sources import SubjectError
from observatory.store.records.sample import Sample
from observatory.store.records.upgrades import Part

SCENARIO = "upgrade"


def cells_of(models: Sequence[str] | None, backends: Sequence[str]) -> list[Cell]:
    """Return the cells of the backends with the named models, or with every model they have.

    Raises SubjectError if a backend has no model, or lacks one that was named.
    """
    cells: list[Cell] = []
    for backend in backends:
        asked = [Cell(name, SCENARIO, backend, "spawn") for name in models or models_of(SCENARIO)]
        problems = [problem for cell in asked if (problem := cell.problem())]
        if problems and (models or len(problems) == len(asked)):
            raise SubjectError(problems[0])
        cells += [cell for cell in asked if cell.problem() is None]
    return cells


@dataclass
class Chain:
    """Takes the samples of subjects, each of which starts from the cache of the one before it.

    All executors share one directory of caches. ``took`` is called with each subject and sample.
    """

    cells: Sequence[Cell]
    took: Callable[[str, Sample], None]

    def first(self, name: str, executor: Executor) -> dict[Cell, Sample]:
        """Fill a cache with the first subject, and return its samples."""
        return {
            cell: self._run(name, executor, cell, keep_fresh=_cache(name, cell))
            for cell in self.cells
        }

    def turns(
        self, base: tuple[str, Executor, dict[Cell, Sample]], head: tuple[str, Executor]
    ) -> tuple[list[Part], dict[Cell, Sample]]:
        """Run HEAD on BASE's cache, then BASE again.

        Returns what that shows for each cell, and HEAD's samples as the base of the next pair.
        """
        (base_name, base_executor, filled), (head_name, head_executor) = base, head
        parts, fresh = [], {}
        for cell in self.cells:
            start, left = _cache(base_name, cell), _cache(f"{head_name}-on-{base_name}", cell)
            caches = {"keep_fresh": _cache(head_name, cell)}
            filled_by_base = (base_executor.caches / start).is_dir()
            if filled_by_base:
                caches |= {"cache": start, "keep": left}
            fresh[cell] = self._run(head_name, head_executor, cell, **caches)
            use = fresh[cell] if filled_by_base else None
            again = None
            if filled_by_base and (head_executor.caches / left).is_dir():
                again = self._run(base_name, base_executor, cell, cache=left)
            parts.append(part(cell, filled[cell], use, again))
        return parts, fresh

    def _run(
        self, name: str, executor: Executor, cell: Cell, cache: str | None = None,
        keep: str | None = None, keep_fresh: str | None = None,
    ) -> Sample:  # fmt: skip
        sample = executor.run(Task(cell, "counting", 0, cache, keep, keep_fresh))
        self.took(name, sample)
        return sample


def _cache(name: str, cell: Cell) -> str:
    return f"{name}-{cell.model}-{cell.backend}"
