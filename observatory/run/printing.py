"""A module of the benchmarks that prints one record, run in an environment under test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from observatory.errors import ObservatoryError
from observatory.run.asking import LateError, NoAnswerError, printed
from observatory.run.environments import Environment
from observatory.run.uv import last_lines
from observatory.store.base.record import Record
from observatory.store.base.strict_json import InvalidError, read_json

_GRACE = 30.0
"""Seconds that an ended run gets to clean up after itself."""
_Kind = TypeVar("_Kind", bound=Record)


def of_module(
    environment: Environment,
    module: str,
    arguments: Sequence[str],
    *,
    timeout: float,
    what: str,
    error: type[ObservatoryError],
) -> tuple[int, str, str]:
    """The status of a module of the benchmarks, and what it prints; else as `printed_record`."""
    command = environment.command(module, "--end-with-parent", *arguments)
    try:
        return printed(command, timeout, environment.variables(), _GRACE)
    except LateError as late:
        raise error(f"{what} did not end within {timeout:g} s") from late
    except NoAnswerError as why:
        raise error(f"{what}: {why}") from why


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
    status, stdout, stderr = of_module(
        environment, module, arguments, timeout=timeout, what=what, error=error
    )
    try:
        return read_json(kind, stdout)
    except InvalidError as wrong:
        output = last_lines(stderr, 3) or "nothing"
        raise error(
            f"{what} ended with status {status} and printed no record: {wrong}; the "
            f"output was: {output}"
        ) from wrong
