"""Injecting faults into the caches of an environment."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from observatory.errors import Exit, ObservatoryError, SelectionError
from observatory.run.environments import Environment
from observatory.run.others import version_of
from observatory.run.printing import printed_record
from observatory.store.records.subject import Subject
from observatory.store.records.torture import Torture, Tried

DEFAULT_STEPS = 64
"""Steps of a fault, at most, as the primitive has it."""
PATIENCE = 7200.0
"""Seconds for all faults of a subject: a busy machine takes many times what a quiet one takes."""

NO_OTHERS: Mapping[str, Environment] = MappingProxyType({})


_UNKNOWN = re.compile(r"invalid choice: ('[^']*') \((choose from [^)]*)\)")
"""What the module says of a name that no fault has."""


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
    others: Mapping[str, Environment] = NO_OTHERS,
    journal: Path | None = None,
    budget: float = math.inf,
    timeout: float = PATIENCE,
) -> Torture:
    """Try the faults of the catalogue in an environment, which takes ten minutes or more.

    ``only``: the names of faults; none: all. ``steps``: of each fault, at most. ``cache``: only
    the faults of numba or c. ``others``: environments that fill the caches of `of_python` and its
    like. ``journal``: a directory where every fault is recorded at once, and from which a run that
    was interrupted goes on. ``budget``: seconds after which faults are left for a later run.
    ``timeout``: the limit for all of them, in seconds. Raises TortureError, and SelectionError for
    an unknown fault.
    """
    arguments = [word for name in only for word in ("--only", name)]
    arguments += ["--steps", str(steps)] if steps else []
    arguments += ["--cache", cache] if cache else []
    for name, other in others.items():
        arguments += ["--other", f"{name}={other.python.absolute()}"]
    arguments += ["--journal", str(journal.absolute())] if journal else []
    arguments += ["--budget", f"{budget:.0f}"] if budget < math.inf else []
    try:
        record = printed_record(
            environment, "benchmarks.torture", arguments, Torture,
            timeout=timeout, what="the faults", error=TortureError,
        )  # fmt: skip
    except TortureError as error:
        if unknown := _UNKNOWN.search(str(error)):
            raise SelectionError(f"there is no fault {unknown[1]}; {unknown[2]}") from None
        raise
    told = {name: version_of(name, other) for name, other in others.items()}
    tried = Tried(subject=subject, machine=machine, others=told)
    return record.model_copy(update={"tried": tried})


def journal_of(environment: Environment, state: Path, asked: Sequence[object]) -> Path:
    """Return the directory for a run's journal: one that is asked for the same has the same.

    ``asked``: whatever else decides what is tried, and how.
    """
    code = hashlib.sha256(repr(asked).encode())
    for path in sorted((environment.importable / "benchmarks" / "torture").glob("*.[pc]*")):
        if path.is_file():
            code.update(path.read_bytes())
    return state / "torture" / f"{environment.key}-{code.hexdigest()[:16]}"
