"""The samples that a set of cells needs, their order, and the sample that fills each cache.

The tool shares this module. The ASV suites carry out one task after another; `observatory run` may
take two counting samples at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from .catalogue import CORRECTNESS, METRICS, SCENARIOS, Cell, Measure, metrics_of

PASSES: tuple[Measure, ...] = ("counting", "tracing", "work", "timing")
"""The passes in the order in which they are taken: times last, as nothing may run beside them."""


@dataclass(frozen=True)
class Task:
    """One sample to take."""

    cell: Cell
    measure: Measure
    round: int
    """From 0; tasks that differ only in it are repetitions."""
    cache: str | None = None
    """The name of the filled cache that it starts from; None: from empty."""
    keep: str | None = None
    """The name under which its caches are kept for others."""
    keep_fresh: str | None = None
    """The same for the cache that an upgrade filled from empty."""
    imports: bool = False
    """Whether it also says what importing takes, module by module."""

    @property
    def hash_seed(self) -> int | None:
        """The hash seed of its process; None: a new one, or that of the cache.

        In the pass `work`, repetitions have the seeds 1 to 5: counts repeat exactly with one seed,
        and another one moves them as much as any harmless change of the code does.
        """
        spawned = self.measure == "work" and self.cell.launch == "spawn"
        return self.round + 1 if spawned else None


@dataclass(frozen=True)
class Rounds:
    """The number of samples of each pass; 0 leaves a pass out."""

    timing: int = 1
    counting: int = 1
    tracing: int = 0
    work: int = 0

    def of(self, measure: Measure) -> int:
        """Return the number of samples of one pass."""
        number: int = getattr(self, measure)
        return number


def plan(
    cells: Iterable[Cell], rounds: Rounds, overrides: Mapping[Cell, Rounds] | None = None
) -> list[Task]:
    """Return the tasks: fillers first, then the other counting, tracing, work and timing samples.

    ``rounds``: the samples of each pass and cell; ``overrides`` replaces it for single cells. The
    cache of a warm cell is filled by the counting cold sample of its backend, even if that sample
    is not asked for: under fork, all samples that share the cache use its hash seed. The pass
    `work` has caches of its own, with machine code for one pinned CPU. Each timing round goes
    through all cells before the next begins, so that drift affects all of them alike.
    """
    overrides = overrides or {}
    chosen = list(dict.fromkeys(cells))
    tasks = list(_fillers(chosen, rounds, overrides))
    taken = {(task.cell, task.measure, task.round) for task in tasks}
    for measure in PASSES:
        wanted = [(cell, overrides.get(cell, rounds).of(measure)) for cell in chosen]
        for number in range(max((count for _, count in wanted), default=0)):
            for cell, count in wanted:
                if number >= count or (cell, measure, number) in taken:
                    continue
                if not any(m.measure == measure for m in metrics_of(cell.scenario, cell.launch)):
                    continue
                tasks.append(Task(cell, measure, number, cache=cache_of(cell, measure)))
    return with_imports(tasks)


def with_imports(tasks: Iterable[Task]) -> list[Task]:
    """Return the tasks; the first traced one in a fresh interpreter says what importing takes."""
    found = list(tasks)
    launches = METRICS["import_time"].launches
    for place, task in enumerate(found):
        if task.measure == "tracing" and task.cell.launch in launches:
            found[place] = replace(task, imports=True)
            break
    return found


def cache_of(cell: Cell, measure: Measure) -> str | None:
    """Return the name of the filled cache that samples of a cell start from; None: from empty."""
    return _cache_name(cell, measure) if _starts_filled(cell) else None


def filler_of(task: Task) -> Task:
    """Return the sample that fills the cache which a task starts from."""
    measure: Measure = "work" if task.measure == "work" else "counting"
    return Task(_filler(task.cell), measure, 0, keep=task.cache)


def _fillers(
    chosen: Iterable[Cell], rounds: Rounds, overrides: Mapping[Cell, Rounds]
) -> Iterator[Task]:
    """A sample for each cache that cells start from: counted, and once more for the pass `work`."""
    filled = [(cell, overrides.get(cell, rounds)) for cell in chosen if _starts_filled(cell)]
    worked = [cell for cell, of in filled if of.work]
    others = [cell for cell, of in filled if not of.work or of.timing or of.counting or of.tracing]
    passes: tuple[tuple[Measure, list[Cell]], ...] = (("counting", others), ("work", worked))
    for measure, started in passes:
        for name, filler in {_cache_name(cell, measure): _filler(cell) for cell in started}.items():
            yield Task(filler, measure, 0, keep=name)


def _starts_filled(cell: Cell) -> bool:
    return bool(SCENARIOS[cell.scenario].filled_by)


def _cache_name(cell: Cell, measure: Measure) -> str:
    family = SCENARIOS[_filler(cell).scenario].family
    prefix = "work-" if measure == "work" else ""
    prefix += "" if family == "build" else f"{family}-"
    return f"{prefix}{cell.model}-{cell.cache_backend}-{cell.launch}"


def _filler(cell: Cell) -> Cell:
    return Cell(cell.model, SCENARIOS[cell.scenario].filled_by, cell.cache_backend, cell.launch)


def recorded(record_metrics: Mapping[str, float], measure: Measure) -> dict[str, float]:
    """Return the metrics of a sample that belong to its pass, and the two that every pass gives.

    Those two are `wrong_results` and `crashed`. Raises KeyError for a name that is no metric.
    """
    return {
        name: value
        for name, value in record_metrics.items()
        if METRICS[name].measure == measure or name in CORRECTNESS
    }
