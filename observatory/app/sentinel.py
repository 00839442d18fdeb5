"""Look at this machine with work that never changes."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from observatory.app.progress import doing
from observatory.app.session import Session
from observatory.benchmarks.catalogue import Cell
from observatory.benchmarks.plan import Rounds, plan
from observatory.errors import Exit, ObservatoryError
from observatory.run.environments import Environment
from observatory.run.execute import Executor
from observatory.run.filled import filled_caches
from observatory.run.local import measuring_lock
from observatory.run.uv import last_lines
from observatory.store.base.decode import NotJsonError, decoded
from observatory.store.records import sentinels
from observatory.store.records.sentinels import Sentinel
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
        times = {**found["times"], _BUILD: list(_builds(session, environment))}
    made = Sentinel(
        machine=session.machine, subject=subject, versions=environment.versions,
        system=found["system"], times={name: values for name, values in times.items() if values},
        taken_at=datetime.now(UTC),
    )  # fmt: skip
    sentinels.save(session.results, made)
    return made


def pinned(results: Path, machine: str) -> str | None:
    """The release that the last look at a machine used; None if there was none."""
    known = [one for one in sentinels.load_all(results) if isinstance(one, Sentinel)]
    own = [one for one in known if one.machine.machine == machine]
    return max(own, key=lambda one: one.taken_at).subject.label if own else None


def _pieces(environment: Environment) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="observatory-sentinel-") as empty:
        process = environment.start(Path(empty), "benchmarks.sentinel")
        try:
            stdout, stderr = process.printed(_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise SentinelError(f"the fixed work did not end within {_SECONDS:g} s") from error
        finally:
            process.kill()
    if process.returncode:
        output = last_lines(stderr, 3) or "nothing"
        raise SentinelError(f"the fixed work ended with {process.returncode} and printed: {output}")
    try:
        found = decoded(stdout.encode())
    except NotJsonError as error:
        raise SentinelError(f"the fixed work printed no times: {error}") from error
    if not isinstance(found, dict):
        raise SentinelError("the fixed work printed no times")
    return found


def _builds(session: Session, environment: Environment) -> Iterator[float]:
    """Seconds of each build of the model, or none where it fails."""
    with filled_caches(session.state, "sentinel") as caches:
        executor = Executor(environment, caches, session.timeout)
        for task in plan([_CELL], Rounds(timing=_BUILDS, counting=0)):
            sample = executor.run(task)
            if task.cell == _CELL and "compile_time" in sample.metrics:
                yield float(sample.metrics["compile_time"])
