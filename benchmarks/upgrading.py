"""A subject on the cache that another one left: whether it returns what it would have compiled.

Runs beside the primitive. The subject builds every graph from an empty cache, then again, in
another process, from a copy of the other's cache; a value that differs is stale: it comes from code
that the other has compiled and that this one would have compiled otherwise.
"""

from __future__ import annotations

from typing import Any

from benchmarks import process, sandbox
from benchmarks.catalogue import TOLERANCE
from benchmarks.process import Outcome
from benchmarks.records import Found
from benchmarks.request import Request, flags_of, job_of
from benchmarks.sandbox import Sandbox


def take(request: Request, box: Sandbox, seed: int) -> Found:
    """Without a cache to start from: the first half alone, which fills one."""
    job = {**job_of(request, "upgrade", 0), "prefix": "fresh "}
    env = box.environment(sandbox.new_seed(), flags_of(request))
    fresh = process.run(box, job, env, request.timeout)
    if fresh.status == "ok" and request.keep_fresh is not None:
        box.keep_cache(request.keep_fresh, seed)
    if fresh.status != "ok" or request.cache is None:
        return Found(fresh)
    box.start_from(request.cache)
    box.empty_tmp()
    values = _values(fresh)
    job = {**job_of(request, "upgrade", 1), "members": list(values)}
    used = process.run(box, job, box.environment(seed, flags_of(request)), request.timeout)
    stale = [name for name, value in _values(used).items() if differ(value, values[name])]
    return Found(used, filler=fresh, fill=fresh.seconds, stale=tuple(stale))


def _values(outcome: Outcome) -> dict[str, list[float | None]]:
    found: dict[str, Any] = (outcome.report or {}).get("values", {})
    return found


def differ(one: list[float | None], other: list[float | None]) -> bool:
    """Whether two values of one graph are not the same up to the last bits.

    None stands for what is not finite. Cold and reloaded code differ in the last bits, so that each
    entry may be off by the tolerance, relatively.
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
