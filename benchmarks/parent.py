"""End a process with its parent, so that nothing lives on when the parent is killed."""

from __future__ import annotations

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent(number: int, parent: int | None = None) -> None:
    """Ask the kernel to send this process a signal when its parent dies. Linux only.

    ``number``: the signal. ``parent``: the expected process id of the parent; if that process has
    died already, this one exits at once with status 1.
    """
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os._exit(1)
