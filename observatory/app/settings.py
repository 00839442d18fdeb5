"""Whether numbers and keys stay right where the settings of a process are other than usual.

The settings are the conditions of `observatory cross`. Here they are crossed by pairs: every two of
them are once together. In each row, keys are compared, siblings share a cache, a build starts from
a filled cache, and draws use the cache that the usual settings left, as after an upgrade; then the
usual settings use the cache that the row left. The result of all rows is recorded; their samples
are not, because these do not name their settings.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path

from observatory.analyze.comparison.evidence import failure_of
from observatory.analyze.covering import by_pairs
from observatory.app.conditions import Condition, conditions
from observatory.app.progress import doing
from observatory.app.session import Session
from observatory.benchmarks.catalogue import SCENARIOS, WRONG_VALUES, Cell, metrics_of
from observatory.benchmarks.plan import Rounds, Task, plan
from observatory.errors import Exit
from observatory.run.environments import Environment
from observatory.run.filled import filled_caches
from observatory.run.local import measuring_lock
from observatory.store.journal.values import failed
from observatory.store.records import settings as records
from observatory.store.records.sample import Sample
from observatory.store.records.settings import Row, Settings
from observatory.store.records.subject import Subject

CELLS = (
    Cell("keys_quick", "pairs_keys", "NUMBA", "spawn"),
    Cell("closures", "siblings", "NUMBA", "spawn"),
    Cell("randoms", "upgrade", "NUMBA", "spawn"),
    Cell("keys_quick", "pairs_second", "C_VM", "spawn"),
    Cell("radon", "warm_disk", "C_VM", "spawn"),
    Cell("radon", "warm_disk", "NUMBA", "spawn"),
)
"""What is measured in each row."""
SOME = (
    "differ.constant.value", "differ.props.CumOp.axis", "differ.props.Elemwise.scalar_op",
    "differ.types.dtype",
)  # fmt: skip
"""The pairs that C_VM builds: a build takes it seconds, and it has no keys that could be compared
without one."""
DRAWS = ("normal", "gamma", "beta", "poisson", "bernoulli", "t")
"""The draws that use the cache of a row with the usual settings again."""
USUAL = "the usual settings"
_LEFT = "usual"
"""The cache that an upgrade with the usual settings left."""
_OWN = "own"
"""The cache that an upgrade with the settings of a row left."""
_BACK = " back"
"""Stands behind the cell of an upgrade from other settings to the usual ones.

There only failures, and wrong and stale values, count: what a row did not store is compiled, which
is no fault.
"""
_NEVER = (
    *WRONG_VALUES, "key_instabilities", "cache_misses", "graphs_raised",
    "collided_symbols", "vulnerable_symbols",
)  # fmt: skip
"""Counts that are 0 with the usual settings. Of the other alerting counts, such as the files that
are left behind, a row must not have more than the usual one."""


def status_of(row: Row, usual: Row | None) -> Exit:
    """The status with which the canary ends because of a row; wrong numbers come first."""
    worse = row.beyond(usual)
    if any(one.split(" ")[1] in WRONG_VALUES for one in worse if one not in row.failures):
        return Exit.WRONG_RESULTS
    if any(one in row.failures for one in worse):
        return Exit.SAMPLE_FAILED
    return Exit.WORSE if worse else Exit.OK


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

    After the last one, all are recorded in RESULTS/settings. Raises what making an environment
    raises, and OSError.
    """
    environment = session.environment(subject)
    began, rows = time.monotonic(), []
    with conditions(*CELLS) as every, filled_caches(session.state, "upgraded") as left:
        for condition in rows_of(every):
            name = condition.name or USUAL
            with doing(session.progress, f"{subject.label} with {name}"):
                rows.append(_row(name, _taken(session, environment, condition, left)))
            yield rows[-1]
    took = round(time.monotonic() - began, 1)
    made = Settings(
        machine=session.machine, subject=subject, versions=environment.versions,
        taken_at=datetime.now(UTC), seconds=took, rows=rows,
    )  # fmt: skip
    records.save(session.results, made)


def _taken(
    session: Session, environment: Environment, condition: Condition, left: Path
) -> list[tuple[Sample, str]]:
    """The samples of a row, and what is said of where each is from.

    ``left``: where the rows leave the caches of their upgrades.
    """
    cells = [condition.cell(one) for one in CELLS]
    upgrades = [one for one in cells if SCENARIOS[one.scenario].family == "upgrade"]
    pairs_of_c = [one for one in cells if SCENARIOS[one.scenario].of_pair == "second"]
    others = [one for one in cells if one not in upgrades + pairs_of_c]
    once, nothing = Rounds(timing=0, counting=1), Condition("")
    cache, keep = (_LEFT, _OWN) if condition.name else (None, _LEFT)
    there = [Task(one, "counting", 0, cache, None, keep) for one in upgrades]
    back = [Task(one, "counting", 0, _OWN) for one in upgrades if condition.name]
    shutil.rmtree(left / _OWN, ignore_errors=True)  # of the row before, should this one leave none
    of_pairs, of_draws = (_within(session, names) for names in (SOME, DRAWS))
    with filled_caches(session.state, "settings") as caches, measuring_lock(session.say):
        taken = []
        for narrowed, place, under, tasks, direction in (
            (session, caches, condition, plan(others, once), ""),
            (of_pairs, caches, condition, plan(pairs_of_c, once), ""),
            (session, left, condition, there, ""),
            (of_draws, left, nothing, back, _BACK),
        ):
            executor = under.executor(narrowed, environment, place)
            taken += [(executor.run(task), _where(task.cell) + direction) for task in tasks]
        return taken


def _within(session: Session, graphs: Sequence[str]) -> Session:
    """The session with some graphs alone; if it has only some itself, with those of both."""
    both = [one for one in graphs if one in session.only]
    return session.narrowed(both or graphs)


def _row(name: str, samples: Sequence[tuple[Sample, str]]) -> Row:
    found = {
        (metric.name, f"{metric.name} of {place}"): float(one.metrics[metric.name])
        for one, place in samples
        for metric in metrics_of(one.cell.scenario, one.cell.launch)
        if metric.kind == "exact" and metric.alerts_in(one.cell.scenario)
        if metric.name in WRONG_VALUES or not place.endswith(_BACK)
        if one.metrics.get(metric.name, 0)
    }
    counts, further = (
        {where: value for (metric, where), value in found.items() if (metric in _NEVER) is never}
        for never in (True, False)
    )
    # What a setting takes away, as C's code without a compiler, is not measured, and not worse.
    failures = [f"{place}: {failure_of([one])}" for one, place in samples if failed(one)]
    return Row(name=name, counts=counts, failures=failures, further=further)


def _where(cell: Cell) -> str:
    return f"{cell.model} {cell.scenario}" + f" {cell.backend}" * (cell.backend != "NUMBA")
