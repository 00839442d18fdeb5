"""Probe on the process: what of it a build leaves changed, beside its caches and its memory."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import numpy as np

_DESCRIPTORS = Path("/proc/self/fd")


def snapshot() -> dict[str, object]:
    """Return what a library should leave as it found it, by name."""
    return {
        "open files": sum(1 for _ in _DESCRIPTORS.iterdir()) if _DESCRIPTORS.is_dir() else 0,
        "threads": threading.active_count(),
        "the seed of NumPy's global generator": _digest(np.random.get_state()),
        "the seed of random": _digest(random.getstate()),
        "the working directory": str(Path.cwd()),
        "variables of the environment": _digest(sorted(os.environ.items())),
        "sys.path": tuple(sys.path),
        "the recursion limit": sys.getrecursionlimit(),
        "what NumPy does on errors": _digest(np.geterr()),
        "signal handlers": _digest([signal.getsignal(one) for one in signal.valid_signals()]),
    }


def changed(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    """Return the names of what is different. Fewer open files or threads are no difference."""
    return {name for name, value in after.items() if _worse(before[name], value)}


def _worse(before: object, after: object) -> bool:
    if isinstance(before, int) and isinstance(after, int):
        return after > before
    return before != after


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()
