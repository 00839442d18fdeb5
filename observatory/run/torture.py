"""Putting the caches of an environment under faults."""

from __future__ import annotations

from collections.abc import Sequence

from observatory.errors import Exit, ObservatoryError
from observatory.run.environments import Environment
from observatory.run.printing import printed_record
from observatory.store.records.subject import Subject
from observatory.store.records.torture import Torture, Tried

PATIENCE = 7200.0
"""Seconds for all faults of a subject: a busy machine takes many times what a quiet one takes."""


class TortureError(ObservatoryError):
    """The primitive printed no record; the message says what it did instead."""

    exit_code = Exit.UNDECIDED


def torture(
    environment: Environment,
    subject: Subject,
    machine: str,
    only: Sequence[str] = (),
    steps: int | None = None,
    cache: str | None = None,
    timeout: float = PATIENCE,
) -> Torture:
    """Try the faults of the catalogue in an environment, which takes ten minutes or more.

    ``only``: the names of faults; none: all. ``steps``: of each fault, at most. ``cache``: only
    the faults of numba or c. ``timeout``: the limit for all of them, in seconds. Raises
    TortureError.
    """
    arguments = [word for name in only for word in ("--only", name)]
    arguments += ["--steps", str(steps)] if steps else []
    arguments += ["--cache", cache] if cache else []
    record = printed_record(
        environment, "benchmarks.torture", arguments, Torture,
        timeout=timeout, what="the faults", error=TortureError,
    )  # fmt: skip
    return record.model_copy(update={"tried": Tried(subject=subject, machine=machine)})
