"""What the operating system and the interpreter report about a process: memory, CPU time, calls."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType
from typing import Any

_TOOL = 4  # a free id of sys.monitoring: 0-2 and 5 have conventional owners


def peak_rss(pid: int | str = "self") -> int | None:
    """Return the largest resident memory of a process (VmHWM) in bytes; None without /proc.

    `ru_maxrss` is not used: for a spawned process it includes the memory of its parent.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None


def cpu_time() -> float:
    """Return the CPU seconds of this process and of the children that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def can_trace() -> bool:
    """Return whether this Python can count the functions entered: from 3.12 on."""
    return sys.version_info >= (3, 12)


@contextmanager
def counting_calls(counts: list[int]) -> Iterator[None]:
    """Append to ``counts`` the number of Python functions entered inside the block.

    The method is `sys.monitoring` (PEP 669). Raises AttributeError where `can_trace` is False, and
    ValueError if another tool monitors already.
    """
    calls = 0

    def entered(code: CodeType, offset: int) -> None:  # noqa: ARG001 - what sys.monitoring calls
        nonlocal calls
        calls += 1

    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    monitoring.use_tool_id(_TOOL, "observatory")
    monitoring.register_callback(_TOOL, monitoring.events.PY_START, entered)
    monitoring.set_events(_TOOL, monitoring.events.PY_START)
    try:
        yield
    finally:
        monitoring.set_events(_TOOL, monitoring.events.NO_EVENTS)
        monitoring.free_tool_id(_TOOL)
        counts.append(calls)
