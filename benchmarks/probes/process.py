"""What the operating system and the interpreter report about a process: memory, CPU time."""

from __future__ import annotations

import os
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


def cpu_time_of(pid: int) -> float | None:
    """Return the CPU seconds of another process and of the children that it has waited for.

    None without /proc.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # After the name in parentheses: utime, stime, cutime and cstime are the fields 14 to 17.
    return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")


def queued_time_of(pid: int) -> float:
    """Return the seconds for which another process could have run and had no CPU; 0 if unknown."""
    try:
        nanoseconds = Path(f"/proc/{pid}/schedstat").read_text().split()[1]
    except (OSError, IndexError):
        return 0.0  # without /proc, or a kernel that does not count it
    return int(nanoseconds) / 1e9


def can_trace() -> bool:
    """Return whether this Python can count the functions entered: from 3.12 on."""
    return sys.version_info >= (3, 12)
