"""A detector of steps that is a program of its own: one line of JSON in, one line out."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np
import numpy.typing as npt

from observatory.errors import ObservatoryError

Values = npt.NDArray[np.float64]


class ExternalDetectorError(ObservatoryError):
    """The program cannot be started, or does not answer as asked; the message says which."""


@contextmanager
def external(command: str) -> Iterator[Callable[[Values], list[int]]]:
    """Start ``command`` as a detector, and end it with the block.

    It reads one JSON list of numbers a line and answers each with one line, a JSON list of the
    indices at which new levels begin.
    """
    try:
        process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    except (OSError, ValueError) as error:
        raise ExternalDetectorError(f"{command!r} cannot be started: {error}") from error
    assert process.stdin is not None
    assert process.stdout is not None
    asked, answers = process.stdin, process.stdout

    def detect(values: Values) -> list[int]:
        try:
            asked.write(json.dumps(values.tolist()) + "\n")
            asked.flush()
            line = answers.readline()
            found = json.loads(line)
        except (OSError, ValueError) as error:
            said = "nothing" if not isinstance(error, ValueError) else repr(line[:200])
            raise ExternalDetectorError(
                f"{command!r} answered {said}, which is not a JSON list"
            ) from error
        places = range(1, len(values) + 1)
        if not isinstance(found, list) or any(type(o) is not int or o not in places for o in found):
            raise ExternalDetectorError(
                f"{command!r} answered {line[:200]!r}, not a list of indices"
            )
        return sorted(found)

    try:
        yield detect
    finally:
        for pipe in (asked, answers):
            with suppress(OSError):  # it may have died with what it was asked still on the way
                pipe.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
