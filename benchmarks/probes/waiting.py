"""Probe on waiting: for how long a build waits for a lock, a disk or the end of a sleep.

A busy machine makes every time longer, and lets a thread wait for a CPU. Linux tells this wait from
others: it counts for how long a thread ran, and for how long it was ready to run and had no CPU.
What is left of the elapsed time is the time in which the thread waited for something else.

The wait for a process that the build has started, such as a compiler, is left out: it is as long as
the CPU time of that process, and longer on a busy machine. Who reads its output without `Popen`'s
methods waits, as for a file.
"""

from __future__ import annotations

import functools
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

_SCHEDSTAT = Path("/proc/thread-self/schedstat")
_OF_PROCESSES = ("__init__", "wait", "communicate")
"""The methods of `Popen` that wait: for a process to begin, and to end."""


def idle_time() -> float | None:
    """Return a clock less the seconds for which this thread ran or was ready to run.

    What it grows by is the time in which the thread waited. None without /proc, or where the kernel
    does not count it.
    """
    try:
        ran, queued, _ = map(int, _SCHEDSTAT.read_text().split())
    except (OSError, ValueError):
        return None
    return time.perf_counter() - (ran + queued) / 1e9 if ran else None


class Waiting:
    """The seconds for which this thread waits inside a block, but for no CPU and no process."""

    def __init__(self) -> None:
        self.seconds: float | None = None
        """Of the last block; None if it raised, or where the kernel does not count it."""
        self._thread = 0
        self._inside = 0
        self._for_processes = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Add up the waits of the block."""
        self.seconds, self._for_processes = None, 0.0
        self._thread = threading.get_ident()
        with ExitStack() as stack:
            for name in _OF_PROCESSES:
                stack.enter_context(self._left_out(name))
            begin = idle_time()
            yield
            end = idle_time()
        if begin is not None and end is not None:
            self.seconds = max(0.0, end - begin - self._for_processes)

    @contextmanager
    def _left_out(self, name: str) -> Iterator[None]:
        """Leave out what a method of `Popen` waits for."""
        owner = subprocess.Popen
        original: Callable[..., Any] = vars(owner)[name]

        @functools.wraps(original)
        def waits(*args: Any, **kwargs: Any) -> Any:
            if self._inside or threading.get_ident() != self._thread:
                return original(*args, **kwargs)
            self._inside, begin = 1, idle_time()
            try:
                return original(*args, **kwargs)
            finally:
                end, self._inside = idle_time(), 0
                if begin is not None and end is not None:
                    self._for_processes += end - begin

        setattr(owner, name, waits)
        try:
            yield
        finally:
            setattr(owner, name, original)
