"""Samples of several processes that share a cache: siblings, and a subject after another one.

This runs in the primitive. Siblings find what no single process can show: two of them use one key
or one symbol for different things. An upgrade finds stale values: those of code that another
subject compiled and that this one would have compiled differently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import repeat

from . import process
from .catalogue import SCENARIOS, TOLERANCE
from .fillers import seeds_from
from .messages import Job
from .process import Ending
from .records import Processes
from .request import Request
from .sandbox import Sandbox


def take_siblings(request: Request, box: Sandbox, seed: int) -> Processes:
    """Run the siblings, arranged as the scenario says, and then a process that reads all graphs.

    The children of one parent or server share its hash seed, and so does the reader, as a later run
    of the same program may; each spawned sibling has a seed of its own, which follows from
    ``seed``. In `siblings_reseeded` it is the other way round. The shared cache is empty, or a copy
    of that of the request. Returns how each process ended. Raises CacheError for an unusable cache,
    OSError if a process cannot start.
    """
    if request.cache is not None:
        box.start_from(request.cache)
    scenario = SCENARIOS[request.cell.scenario]
    spawned = request.cell.launch == "spawn"
    seeds = seeds_from(seed) if spawned != scenario.reseeded else repeat(seed)

    def run(job: Job, hash_seed: int, alone: bool = True) -> Ending:
        env = box.environment(hash_seed, request.pytensor_flags, backend=request.backend)
        return process.run(box, job, env, request.timeout, alone=alone)

    job = request.job(box, "siblings")
    if not spawned:
        # One parent, or the server that it starts, forks all of them.
        parent = run(job, seed)
        endings = [process.ending_of_fork(parent, each.report) for each in job.for_members()]
    elif scenario.arrangement == "at once":
        pool = ThreadPoolExecutor(len(job.members))
        run_beside = partial(run, alone=False)
        try:
            endings = list(pool.map(run_beside, job.for_members(), seeds))
        finally:
            # After an interrupt they are still running, and each thread waits for its process.
            process.end_stragglers(box)
            pool.shutdown(cancel_futures=True)
    else:
        endings = [run(each, own) for each, own in zip(job.for_members(), seeds, strict=False)]
    reader = run(request.job(box, "reader"), next(seeds))
    return Processes(reader, siblings=tuple(zip(job.members, endings, strict=True)))


def take_upgrade(request: Request, box: Sandbox, seed: int) -> Processes:
    """Build every graph from an empty cache, then in another process from a copy of a cache.

    That is the cache of the request; without one there is no second process. The process that is
    measured has the hash seed ``seed``, and the other one a seed that follows from it. Returns how
    the processes ended, and the graphs whose values are stale: they differ between the two. Raises
    CacheError for an unusable cache, OSError if a process cannot start.
    """
    job = replace(request.job(box, "upgrade", 0), from_empty=True)
    fresh_seed = seed if request.cache is None else next(seeds_from(seed))
    env = box.environment(fresh_seed, request.pytensor_flags, backend=request.backend)
    fresh = process.run(box, job, env, request.timeout)
    if fresh.status != "ok" or fresh.report is None:
        return Processes(fresh)
    if request.keep_fresh is not None:
        box.keep_cache(request.keep_fresh, fresh_seed)
    if request.cache is None:
        return Processes(fresh)
    box.start_from(request.cache)
    box.empty_tmp()
    expected = fresh.report.values
    job = replace(request.job(box, "upgrade", 1), members=tuple(expected))
    env = box.environment(seed, request.pytensor_flags, backend=request.backend)
    used = process.run(box, job, env, request.timeout)
    values = {} if used.report is None else used.report.values
    stale = tuple(name for name, value in values.items() if differ(value, expected[name]))
    return Processes(used, filler=fresh, fill=fresh.exit.seconds, stale=stale)


def differ(one: Sequence[float | None], other: Sequence[float | None]) -> bool:
    """Return whether two values of one graph differ beyond the last bits.

    Both are flat, of any length; None stands for a number that is not finite. Cold and reloaded
    code differ in the last bits, so each entry may be off by the relative `TOLERANCE`, and one that
    is all rounding by a ten-thousandth of what the largest entry may be off by.
    """
    largest = max((abs(value) for value in (*one, *other) if value is not None), default=0.0)
    rounding = 1e-4 * TOLERANCE * largest
    return len(one) != len(other) or any(
        left is not right
        if left is None or right is None
        else not math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=rounding)
        for left, right in zip(one, other, strict=True)
    )
