"""How Python's garbage collector is set for a process that does one command and ends."""

from __future__ import annotations

import atexit
import gc

_THRESHOLDS = 100_000, 20, 100


def collect_little() -> None:
    """Look for cycles of objects seldom, and not at all when this process ends.

    A command makes many objects that stay: to look for garbage among them takes up to half of its
    time, and a sixth of a short one's is spent on it at its end.
    """
    gc.set_threshold(*_THRESHOLDS)
    atexit.register(gc.freeze)
