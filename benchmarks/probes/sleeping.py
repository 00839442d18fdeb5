"""Probe on sleeping: for how many seconds a build asks to sleep, as who polls a lock does.

It uses the audit event of `time.sleep`, so that it does not matter under which name a module knows
the function. What a process waits for otherwise is not seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_told: list[Callable[[float], None]] = []
_installed: list[bool] = []


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "time.sleep" and _told:
        _told[-1](float(arguments[0]))


@contextmanager
def counting(told: Callable[[float], None]) -> Iterator[None]:
    """Call ``told`` with the seconds of each sleep inside the block, of any thread."""
    if not _installed:
        sys.addaudithook(_heard)
        _installed.append(True)  # a hook cannot be removed
    _told.append(told)
    try:
        yield
    finally:
        _told.pop()
