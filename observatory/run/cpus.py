"""Claims on CPUs: no two workers of this machine measure on the same one.

A claim is the lock of a small file that all processes of the machine share. The kernel releases it
when the process ends, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from observatory.errors import Exit, ObservatoryError
from observatory.text.words import several

CLAIMS = Path("/dev/shm")  # noqa: S108 - empty files, opened without following links
"""Where the files lie: in memory, and gone when the machine starts again."""


class CpusTakenError(ObservatoryError):
    """Fewer CPUs are free than a worker needs; the message says which are taken."""

    exit_code = Exit.UNFIT


@dataclass
class Claim:
    """CPUs that belong to this process until it ends or releases them."""

    cpus: tuple[int, ...]
    since: float = field(default_factory=time.monotonic)
    """By a clock that all processes of the machine share."""
    _locks: list[int] = field(default_factory=list)

    def release(self) -> None:
        """Give them back."""
        while self._locks:
            os.close(self._locks.pop())


def claim(number: int, allowed: Iterable[int], directory: Path = CLAIMS) -> Claim:
    """Claim ``number`` of the ``allowed`` CPUs, the lowest that are free.

    Raises CpusTakenError if fewer are free.
    """
    among, taken = sorted(allowed), []
    found = Claim(())
    for cpu in among:
        if len(found.cpus) == number:
            break
        lock = _lock(directory / f"observatory-cpu-{cpu}")
        if lock is None:
            taken.append(cpu)
        else:
            found.cpus += (cpu,)
            found._locks.append(lock)
    if len(found.cpus) < number:
        found.release()
        numbers = ", ".join(map(str, among))
        others = f", of which other workers own {', '.join(map(str, taken))}" if taken else ""
        raise CpusTakenError(
            f"each worker needs {several(number, 'CPU')} of its own; this one may use "
            f"{several(len(among), 'CPU')} ({numbers}){others}"
        )
    return found


def _lock(path: Path) -> int | None:
    """The descriptor of a locked file; None if another process holds the lock or owns the file."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, 0o666)
        with contextlib.suppress(PermissionError):  # whatever the umask, others must see the lock
            os.fchmod(descriptor, 0o666)
    except PermissionError:  # another user made it: reading is enough for a lock
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return None
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return descriptor
    os.close(descriptor)
    return None
