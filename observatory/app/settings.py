"""Whether numbers and keys stay right where the settings of a process are other than usual.

The settings are the conditions of `observatory cross`. Here they are crossed by pairs: every two of
them are once together. Nothing is recorded, because the record of a sample does not name them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from observatory.analyze.comparison.evidence import failure_of
from observatory.analyze.covering import by_pairs
from observatory.app.conditions import Condition, conditions
from observatory.app.session import Session
from observatory.benchmarks.catalogue import METRICS, WRONG_VALUES, Cell
from observatory.benchmarks.plan import Rounds, plan
from observatory.errors import Exit
from observatory.run.environments import Environment
from observatory.run.filled import filled_caches
from observatory.run.local import measuring_lock
from observatory.store.records.sample import Sample
from observatory.store.records.subject import Subject

CELLS = (
    Cell("keys_quick", "pairs_keys", "NUMBA", "spawn"),
    Cell("radon", "warm_disk", "NUMBA", "spawn"),
)
"""What is measured in each row: the keys of all quick pairs, and a build from a filled cache."""
USUAL = "the usual settings"
_LOOKED_AT = (*WRONG_VALUES, "key_instabilities", "cache_misses", "graphs_raised")


@dataclass(frozen=True)
class Row:
    """What came out of the samples of one row of settings."""

    name: str
    """The settings that are other than usual."""
    counts: dict[str, float]
    """The counts that should be 0 and are not, with their cells: "cache_misses of radon ..."."""
    failures: tuple[str, ...] = ()
    """Sentences about samples that failed."""

    def beyond(self, usual: Row) -> tuple[str, ...]:
        """Return what is worse here than as usual, as short texts."""
        more = [
            f"{value:g} {name}" for name, value in self.counts.items()
            if value > usual.counts.get(name, 0)
        ]  # fmt: skip
        return (*more, *(one for one in self.failures if one not in usual.failures))

    @property
    def exit_code(self) -> Exit:
        """The status with which the canary ends because of it; wrong numbers come first."""
        if any(name.partition(" ")[0] in WRONG_VALUES for name in self.counts):
            return Exit.WRONG_RESULTS
        if self.failures:
            return Exit.SAMPLE_FAILED
        return Exit.WORSE if self.counts else Exit.OK


def first_of_statuses(*statuses: Exit) -> Exit:
    """Return the status that matters most: wrong numbers, failed samples, then what is worse."""
    order = (Exit.WRONG_RESULTS, Exit.SAMPLE_FAILED, Exit.WORSE)
    return next((one for one in order if one in statuses), Exit.OK)


def rows_of(every: Sequence[Condition]) -> list[Condition]:
    """Return the conditions crossed by pairs, the usual one first."""
    nothing = Condition("")
    found = []
    for row in by_pairs(len(every)):
        chosen = (one for one, taken in zip(every, row, strict=True) if taken)
        found.append(reduce(Condition.beside, chosen, nothing))
    return found


def crossed(session: Session, subject: Subject) -> Iterator[Row]:
    """Measure a subject under each row, the usual one first, and yield what came out.

    Raises what making an environment raises.
    """
    environment = session.environment(subject)
    with conditions(CELLS[-1]) as every:
        for condition in rows_of(every):
            name = condition.name or USUAL
            session.say(f"{subject.label} with {name}")
            yield _row(name, _taken(session, environment, condition))


def _taken(session: Session, environment: Environment, condition: Condition) -> list[Sample]:
    keys, build = CELLS
    cells = (keys, condition.cell(build))
    with filled_caches(session.state, "settings") as caches:
        executor = session.executor(
            environment, caches, flags=condition.flags, variables=condition.variables
        )
        with measuring_lock(session.say):
            return [executor.run(task) for task in plan(cells, Rounds(timing=0, counting=1))]


def _row(name: str, samples: Sequence[Sample]) -> Row:
    counts = {
        f"{metric} of {one.cell.model} {one.cell.scenario}": float(one.metrics[metric])
        for one in samples
        for metric in _LOOKED_AT
        if one.metrics.get(metric, 0) and METRICS[metric].zero_in(one.cell.scenario)
    }
    failed = [one for one in samples if one.status != "ok"]
    return Row(name, counts, tuple(f"{one.cell.model}: {failure_of([one])}" for one in failed))
