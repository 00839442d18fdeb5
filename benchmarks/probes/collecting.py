"""Probe on garbage collections that are asked for: `gc.collect`, as who looks for a leak calls it.

Each looks at every object of the process: tens of milliseconds of a build, which are no Python
calls. Those that Python begins by itself are not counted. The function is replaced, so that a
module with a name of its own for it is not heard.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counting(told: Callable[[], None]) -> Iterator[None]:
    """Call ``told`` before each collection that is asked for inside the block, by any thread."""
    before = gc.collect

    @functools.wraps(before)
    def collect(generation: int = 2) -> int:
        told()
        return before(generation)

    gc.collect = collect
    try:
        yield
    finally:
        gc.collect = before
