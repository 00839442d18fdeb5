"""Checking the contracts of numba: the suite runs as a process of the environment under test."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from pydantic import ValidationError

from observatory.errors import Exit, ObservatoryError
from observatory.run.environments import Environment
from observatory.run.execute import end
from observatory.run.uv import last_lines
from observatory.store.base.problems import reason_of
from observatory.store.records.contracts import Checked, Contracts
from observatory.store.records.subject import Subject

_GRACE = 20.0
"""Seconds that an ended suite gets to clean up after itself."""


class SuiteError(ObservatoryError):
    """The suite printed no record; the message says what it did instead."""

    exit_code = Exit.UNDECIDED


def check(
    environment: Environment, subject: Subject, lifted: bool = False, timeout: float = 1200.0
) -> Contracts:
    """Check every contract in an environment, which takes about half a minute.

    ``lifted`` says that the environment ignores PyTensor's bound of numba; ``timeout`` is the limit
    for the whole suite, in seconds. Raises SuiteError.
    """
    # The current directory is an empty one, as a file in it could be taken for a module.
    with tempfile.TemporaryDirectory(prefix="observatory-contracts-") as empty:
        process = environment.start(Path(empty), "benchmarks.contracts", "--end-with-parent")
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as error:
            raise SuiteError(f"the contracts did not end within {timeout:g} s") from error
        finally:
            if process.poll() is None:
                end(process, _GRACE)
    try:
        record = Contracts.model_validate_json(stdout)
    except ValidationError as error:
        output = last_lines(stderr, 3) or "nothing"
        raise SuiteError(
            f"the contracts ended with status {process.returncode} and printed no record: "
            f"{reason_of(error)}; the output was: {output}"
        ) from error
    return record.model_copy(update={"checked": Checked(subject=subject, lifted=lifted)})
