"""A module of the benchmarks that prints one record, run in an environment under test."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import TypeVar

from observatory.errors import ObservatoryError
from observatory.run.environments import Environment
from observatory.run.execute import end
from observatory.run.uv import last_lines
from observatory.store.base.record import Record
from observatory.store.base.scratch import temporary
from observatory.store.base.strict_json import InvalidError, read_json

_GRACE = 30.0
"""Seconds that an ended run gets to clean up after itself."""
_Kind = TypeVar("_Kind", bound=Record)


def printed_record(
    environment: Environment,
    module: str,
    arguments: Sequence[str],
    kind: type[_Kind],
    *,
    timeout: float,
    what: str,
    error: type[ObservatoryError],
) -> _Kind:
    """The record that a module of the benchmarks prints.

    ``timeout``: seconds after which it is ended. ``what`` it does, a plural that begins a sentence.
    Raises ``error`` if it does not end in time or prints no such record.
    """
    # The current directory is an empty one, as a file in it could be taken for a module.
    with temporary(f"observatory-{module.rpartition('.')[2]}-") as empty:
        process = environment.start(empty, module, "--end-with-parent", *arguments)
        try:
            stdout, stderr = process.printed(timeout)
        except subprocess.TimeoutExpired as late:
            raise error(f"{what} did not end within {timeout:g} s") from late
        finally:
            if process.poll() is None:
                end(process, _GRACE)
    try:
        return read_json(kind, stdout)
    except InvalidError as wrong:
        output = last_lines(stderr, 3) or "nothing"
        raise error(
            f"{what} ended with status {process.returncode} and printed no record: {wrong}; the "
            f"output was: {output}"
        ) from wrong
