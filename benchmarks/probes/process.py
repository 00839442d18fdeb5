"""What the operating system and the interpreter report about a process: memory, CPU time."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path


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
