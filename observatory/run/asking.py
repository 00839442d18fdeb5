"""A question to another Python: a short program that prints one JSON value on its last line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter

from observatory.run.started import Started, end
from observatory.run.uv import last_lines
from observatory.store.base.scratch import temporary
from observatory.store.base.strict_json import InvalidError, read_json

_Kind = TypeVar("_Kind", bound=BaseModel)
_Type = TypeVar("_Type")


class NoAnswerError(Exception):
    """There is no answer; the message says why."""


class LateError(NoAnswerError):
    """It did not come in time."""


def printed(
    command: Sequence[str],
    timeout: float,
    variables: Mapping[str, str] | None = None,
    grace: float = 0.0,
) -> tuple[int, str, str]:
    """Run a command to its end; return its status, and what it printed within bounds.

    It runs in an empty directory, as a file in the current one could be taken for a module. Ctrl-C
    reaches it only through this process, which ends it. ``timeout``: seconds after which it is
    ended, ``grace``: more seconds that it gets to clean up. ``variables``: None: those of this
    process. Raises NoAnswerError.
    """
    with temporary("observatory-ask-") as empty:
        try:
            process = Started(
                command, cwd=empty, env=os.environ if variables is None else variables
            )
        except OSError as error:
            raise NoAnswerError(str(error)) from error
        try:
            stdout, stderr = process.printed(timeout)
        except subprocess.TimeoutExpired as error:
            raise LateError(f"the process did not end within {timeout:g} s") from error
        finally:
            if process.poll() is None and grace:
                end(process, grace)
            elif process.poll() is None:
                process.kill()
                process.wait()
    return process.returncode, stdout, stderr


def answer(
    command: Sequence[str],
    kind: type[_Kind] | TypeAdapter[_Type],
    timeout: float,
    variables: Mapping[str, str] | None = None,
) -> _Kind | _Type:
    """Return what a command prints on its last line. As `printed`; raises NoAnswerError."""
    status, stdout, stderr = printed(command, timeout, variables)
    if status:
        raise NoAnswerError(last_lines(stderr, 3) or f"exit status {status}")
    lines = stdout.strip().splitlines()
    try:
        return read_json(kind, lines[-1] if lines else "")
    except InvalidError as error:
        raise NoAnswerError(f"its answer cannot be read: {error}") from error
