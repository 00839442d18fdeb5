"""An external program as a detector of steps: one line of JSON in, one line out."""

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
    """The program cannot be started, or its answer is not a list of indices."""


@contextmanager
def external(command: str) -> Iterator[Callable[[Values], list[int]]]:
    """Start ``command`` as a detector, and end it with the block.

    The program reads one JSON list of numbers from each line. It answers each with one line, a JSON
    list of the indices at which new levels begin. Raises ExternalDetectorError.
    """
    try:
        process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    except (OSError, ValueError) as error:
        raise ExternalDetectorError(f"{command!r} cannot be started: {error}") from error
    assert process.stdin is not None
    assert process.stdout is not None
    requests, answers = process.stdin, process.stdout

    def detect(values: Values) -> list[int]:
        line = ""
        try:
            requests.write(json.dumps(values.tolist()) + "\n")
            requests.flush()
            line = answers.readline()
            found = json.loads(line)
        except (OSError, ValueError):
            found = None
        indices = range(1, len(values) + 1)
        if isinstance(found, list) and all(type(i) is int and i in indices for i in found):
            return sorted(found)
        raise ExternalDetectorError(
            f"{command!r} answered {line[:200]!r}, which is not a JSON list of indices"
        )

    try:
        yield detect
    finally:
        for pipe in (requests, answers):
            with suppress(OSError):  # the program may have ended before it read its input
                pipe.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
