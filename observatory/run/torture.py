"""Putting the caches of an environment under faults."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from observatory.errors import Exit, ObservatoryError
from observatory.run.environments import Environment
from observatory.run.execute import end
from observatory.run.uv import last_lines
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.records.subject import Subject
from observatory.store.records.torture import Torture, Tried

_GRACE = 30.0
"""Seconds that an ended run gets to clean up after itself."""
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
    # The current directory is an empty one, as a file in it could be taken for a module.
    with tempfile.TemporaryDirectory(prefix="observatory-torture-") as empty:
        process = environment.start(
            Path(empty), "benchmarks.torture", "--end-with-parent", *arguments
        )
        try:
            stdout, stderr = process.printed(timeout)
        except subprocess.TimeoutExpired as error:
            raise TortureError(f"the faults were not tried within {timeout:g} s") from error
        finally:
            if process.poll() is None:
                end(process, _GRACE)
    try:
        record = read_json(Torture, stdout)
    except InvalidError as error:
        output = last_lines(stderr, 3) or "nothing"
        raise TortureError(
            f"the faults ended with status {process.returncode} and printed no record: "
            f"{error}; the output was: {output}"
        ) from error
    return record.model_copy(update={"tried": Tried(subject=subject, machine=machine)})
