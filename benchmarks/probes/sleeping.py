"""Probe on sleeping: for how many seconds a build asks to sleep, as who polls a lock does.

Python 3.13 tells of each `time.sleep` as an audit event, whatever a module calls the function. In
earlier ones the function is replaced, so that a module with a name of its own for it is not heard.
What a process waits for otherwise is not seen.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_AUDITED = sys.version_info >= (3, 13)
_told: list[Callable[[float], None]] = []
_installed: list[bool] = []
_sleep = time.sleep


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "time.sleep" and _told:
        _told[-1](float(arguments[0]))


def _sleep_and_tell(seconds: Any) -> None:
    _heard("time.sleep", (seconds,))
    _sleep(seconds)


@contextmanager
def counting(told: Callable[[float], None]) -> Iterator[None]:
    """Call ``told`` with the seconds of each sleep inside the block, of any thread."""
    if _AUDITED and not _installed:
        sys.addaudithook(_heard)
        _installed.append(True)  # a hook cannot be removed
    _told.append(told)
    before = time.sleep
    try:
        if not _AUDITED:
            time.sleep = _sleep_and_tell
        yield
    finally:
        time.sleep = before
        _told.pop()
