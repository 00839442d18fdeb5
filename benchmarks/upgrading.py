"""A subject on the cache that another subject left: which of its values are stale.

This runs in the primitive. The subject builds every graph from an empty cache, then again, in
another process, from a copy of the other's cache. A value that differs is stale: it comes from
code that the other subject compiled and that this one would have compiled differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks import process, sandbox
from benchmarks.catalogue import TOLERANCE
from benchmarks.process import Ending
from benchmarks.records import Processes
from benchmarks.request import Request
from benchmarks.sandbox import Sandbox

Values = dict[str, tuple[float | None, ...]]


def take(request: Request, box: Sandbox, seed: int) -> Processes:
    """Build from an empty cache and, if the request names a cache, from a copy of that.

    Returns how the processes ended, and the graphs whose values are stale. Raises CacheError for an
    unusable cache, OSError if a process cannot start.
    """
    job = replace(request.job(box, "upgrade", 0), from_empty=True)
    env = box.environment(sandbox.new_seed(), request.pytensor_flags)
    fresh = process.run(box, job, env, request.timeout)
    if fresh.status == "ok" and request.keep_fresh is not None:
        box.keep_cache(request.keep_fresh, seed)
    if fresh.status != "ok" or request.cache is None:
        return Processes(fresh)
    box.start_from(request.cache)
    box.empty_tmp()
    values = _values(fresh)
    job = replace(request.job(box, "upgrade", 1), members=tuple(values))
    env = box.environment(seed, request.pytensor_flags)
    used = process.run(box, job, env, request.timeout)
    stale = [name for name, value in _values(used).items() if differ(value, values[name])]
    return Processes(used, filler=fresh, fill=fresh.exit.seconds, stale=tuple(stale))


def _values(ending: Ending) -> Values:
    return {} if ending.report is None else ending.report.values


def differ(one: Sequence[float | None], other: Sequence[float | None]) -> bool:
    """Return whether two values of one graph differ beyond the last bits.

    Both are flat, of any length; None stands for a number that is not finite. Cold and reloaded
    code differ in the last bits, so each entry may be off by the relative `TOLERANCE`.
    """
    if len(one) != len(other):
        return True
    for left, right in zip(one, other, strict=True):
        if left is None or right is None:
            if left is not right:
                return True
        elif abs(left - right) > TOLERANCE * max(abs(left), abs(right)):
            return True
    return False
