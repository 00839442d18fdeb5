"""Look at this machine with work that never changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from observatory.app.progress import doing
from observatory.app.session import Session
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Rounds, plan
from observatory.errors import Exit, ObservatoryError
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.run.filled import filled_caches
from observatory.run.local import measuring_lock
from observatory.run.printing import printed_record
from observatory.store.records import sentinels
from observatory.store.records.sentinels import FixedWork, Sentinel
from observatory.store.records.subject import Subject

_CELL = Cell("radon", "warm_process", "NUMBA", "spawn")
_BUILD = "build"
"""The piece that builds a model with the pinned subject, from a filled cache."""
_BUILDS = 3
_SECONDS = 600.0


class SentinelError(ObservatoryError):
    """The fixed work could not be done; the message says how it ended."""

    exit_code = Exit.SAMPLE_FAILED


def look(session: Session, subject: Subject) -> Sentinel:
    """Time the fixed work in the environment of a subject, and record it; about a minute.

    The builds are not recorded as samples: the subject's history is not the machine's. Raises
    SentinelError, and as `Session.environment` does.
    """
    environment = session.environment(subject, _CELL.installs)
    with measuring_lock(session.say), doing(session.progress, "timing the fixed work"):
        found = _pieces(environment)
        times = {**found.times, _BUILD: list(_builds(session, environment))}
    made = Sentinel(
        machine=session.machine, subject=subject, versions=environment.versions,
        system=found.system, times={name: values for name, values in times.items() if values},
        taken_at=datetime.now(UTC),
    )  # fmt: skip
    sentinels.save(session.results, made)
    return made


def pinned(results: Iterable[Path], machine: str) -> str | None:
    """The release that the last look at a machine used, in any of the results; None without one."""
    looks = chain.from_iterable(map(sentinels.readable, results))
    own = [one for one in looks if one.machine.machine == machine]
    return max(own, key=lambda one: one.taken_at).subject.label if own else None


def _pieces(environment: Environment) -> FixedWork:
    return printed_record(
        environment, "benchmarks.sentinel", (), FixedWork,
        timeout=_SECONDS, what="the pieces of fixed work", error=SentinelError,
    )  # fmt: skip


def _builds(session: Session, environment: Environment) -> Iterator[float]:
    """Seconds of each build of the model, or none where it fails."""
    with filled_caches(session.state, "sentinel") as caches:
        executor = Executor(environment, caches, session.timeout)
        for task in plan([_CELL], Rounds(timing=_BUILDS, counting=0)):
            sample = executor.run(task)
            if task.cell == _CELL and "compile_time" in sample.metrics:
                yield float(sample.metrics["compile_time"])
