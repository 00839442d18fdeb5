"""Memory of the measured process: in which phase it peaks, and what a build leaves in use.

The resident memory of a process says little of what is in use: freed memory stays with the process,
and a second build may take it again. What is in use is therefore asked of the allocators: of the C
library (`mallinfo2`, glibc 2.33), which also serves NumPy and LLVM, and of Python's own allocator
of small objects. Memory that is mapped without them, such as machine code, is not in it.
"""

from __future__ import annotations

import ctypes
import gc
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..profiles import Phase, Profile
from .phases import PHASES, PhaseClock
from .process import peak_rss

BEFORE, REST = "before the build", "not attributed"
_SMALL = re.compile(rb"# bytes in allocated blocks\s*=\s*([\d,]+)")


class _MallocInfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd",
            "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def in_use() -> int | None:
    """Return the bytes that the allocators have given out; None where they cannot be asked."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return None
    ask.restype = _MallocInfo
    small = _small_objects()
    info = ask()
    return None if small is None else int(info.uordblks + info.hblkhd + small)


def _small_objects() -> int | None:
    """Return the bytes of Python's small objects. The interpreter says them on stderr only."""
    report = getattr(sys, "_debugmallocstats", None)
    if report is None:
        return None
    sys.stderr.flush()
    with tempfile.TemporaryFile() as stream:
        kept = os.dup(2)
        os.dup2(stream.fileno(), 2)
        try:
            report()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        stream.seek(0)
        found = _SMALL.search(stream.read())
    return None if found is None else int(found[1].replace(b",", b""))


class MemoryOfBuild:
    """What a build adds to the memory in use, from the time when this object is made."""

    def __init__(self) -> None:
        gc.collect()
        self._before = in_use()
        self._held: int | None = None
        self._nodes = 0

    def built(self, function: Any) -> None:
        """Note what there is while the compiled function exists."""
        with suppress(AttributeError):
            self._nodes = len(function.maker.fgraph.apply_nodes)
        self._held = self._grown()

    def deleted(self) -> dict[str, float]:
        """Return the metrics, when the function is gone; none where memory is not known."""
        left = self._grown()
        if left is None:
            return {}
        found: dict[str, float] = {"retained_bytes": max(0, left)}
        if self._held is not None and self._nodes:
            found["bytes_per_node"] = max(0, self._held) / self._nodes
        return found

    def _grown(self) -> int | None:
        gc.collect()
        now = in_use()
        return None if now is None or self._before is None else now - self._before


class HighWater(PhaseClock):
    """By how much each phase raised the largest resident memory of this process (VmHWM)."""

    def __init__(self) -> None:
        super().__init__(self._highest)
        self._seen = 0
        self._before = 0
        self._rest = 0.0

    def _highest(self) -> float:
        # The kernel adds up its counters roughly, so that the mark may fall by some pages.
        self._seen = max(self._seen, peak_rss() or 0)
        return self._seen

    def profile(self) -> Profile:
        """Return the phases that raised it, which add up to the largest resident memory."""
        raised = {BEFORE: self._before, **self.taken, REST: self._rest}
        return Profile(
            tuple(
                Phase(name, self.entries.get(name, 1), peak_bytes=int(raised[name]))
                for name in (BEFORE, *PHASES, REST)
                if raised.get(name)
            ),
            unwatched=self.unwatched,
        )

    @contextmanager
    def running(self) -> Iterator[None]:
        """Watch the phases of what is built inside the block."""
        begin = self.read()
        self._before = self._before or int(begin)
        attributed = sum(self.taken.values())
        with super().running():
            yield
        self._rest += self.read() - begin - (sum(self.taken.values()) - attributed)
