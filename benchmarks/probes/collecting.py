"""Probe on garbage collections: how often a build and its calls ask for one with `gc.collect`.

Each looks at every object of the process, which takes tens of milliseconds and no call of a Python
function. Those that Python begins by itself are not counted. The function is replaced, so that a
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
