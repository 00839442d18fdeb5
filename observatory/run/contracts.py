"""Checking the contracts of numba: the suite as a process of the environment under test."""

from __future__ import annotations

import subprocess
import tempfile

from pydantic import ValidationError

from observatory.errors import Exit, ObservatoryError
from observatory.run.environments import Environment
from observatory.run.uv import last_lines
from observatory.store.base.problems import reason_of
from observatory.store.records.contracts import Checked, Contracts
from observatory.store.records.subject import Subject

DEFAULT_TIMEOUT = 1200.0
_GRACE = 20.0
"""Seconds that a suite gets to clean up after itself when it is ended."""


class SuiteError(ObservatoryError):
    """Raised where the suite gave no record; the message says what it did instead."""

    exit_code = Exit.UNDECIDED


def check(
    environment: Environment,
    subject: Subject,
    lifted: bool = False,
    timeout: float = DEFAULT_TIMEOUT,
) -> Contracts:
    """Check every contract in an environment: about half a minute. Raises SuiteError.

    ``lifted``: the environment was made against what PyTensor declares. ``timeout``: seconds for
    the whole.
    """
    command = environment.command("benchmarks.contracts", "--end-with-parent")
    # Not where this process is: a file there could be taken for a module.
    with tempfile.TemporaryDirectory(prefix="observatory-contracts-") as empty:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=empty,
            env=environment.variables(),
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as error:
            raise SuiteError(f"the contracts did not end within {timeout:g} s") from error
        finally:
            _end(process)
    try:
        record = Contracts.model_validate_json(stdout)
    except ValidationError as error:
        said = last_lines(stderr, 3) or "nothing"
        raise SuiteError(
            f"the contracts ended with status {process.returncode} and printed no record: "
            f"{reason_of(error)}; the output was: {said}"
        ) from error
    return record.model_copy(update={"checked": Checked(subject=subject, lifted=lifted)})


def _end(process: subprocess.Popen[str]) -> None:
    """End it in the way in which it removes its sandbox, and surely."""
    if process.poll() is None:
        process.terminate()
        try:
            process.communicate(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
