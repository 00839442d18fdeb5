"""Forked children, and processes that end with their parent, so that none outlives a kill."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable

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


def fork(work: Callable[[], int]) -> int:
    """Fork a child and return its process id. Raises OSError if this process cannot fork.

    The child leaves by `os._exit`, like a worker of a pool, with what ``work`` returns as its exit
    status; 1, with a traceback, if ``work`` raises.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        end_with_parent(signal.SIGKILL, parent)
        code = 1
        try:
            code = work()
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return pid
