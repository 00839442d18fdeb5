"""Several processes fill one cache with a graph each; a fresh process then reads all of them.

This finds what goes wrong between processes and no single process can show: two of them use one key
or one symbol for different things. It runs in the primitive; the parent of forked siblings runs
`benchmarks.forking`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from benchmarks import process, sandbox
from benchmarks.catalogue import SCENARIOS
from benchmarks.messages import Job
from benchmarks.process import Ending
from benchmarks.records import Processes
from benchmarks.request import Request
from benchmarks.sandbox import Sandbox


def take(request: Request, box: Sandbox, seed: int) -> Processes:
    """Run the siblings, arranged as the scenario says, and then their reader.

    The children of one parent or server share its hash seed, and so does the reader, as a later run
    of the same program may; each spawned sibling has a seed of its own. In `siblings_reseeded` it
    is the other way round. Returns how each process ended. Raises OSError if one cannot start.
    """
    reseeded = SCENARIOS[request.cell.scenario].reseeded
    spawned = request.cell.launch == "spawn"
    one_seed = spawned == reseeded
    take_all = _spawned if spawned else _children
    endings = take_all(request, box, seed if one_seed or not spawned else None)
    job = request.job(box, "reader")
    env = _environment(request, box, seed if one_seed else None)
    reader = process.run(box, job, env, request.timeout)
    return Processes(reader, siblings=tuple(zip(job.members, endings, strict=True)))


def _children(request: Request, box: Sandbox, seed: int | None) -> list[Ending]:
    """One parent, or the server that it starts, forks all of them."""
    job = request.job(box, "siblings")
    parent = process.run(box, job, _environment(request, box, seed), request.timeout)
    return [
        process.ending_of_fork(parent, job.for_member(index).report)
        for index in range(len(job.members))
    ]


def _spawned(request: Request, box: Sandbox, seed: int | None) -> list[Ending]:
    """Each sibling is a fresh interpreter."""
    at_once = SCENARIOS[request.cell.scenario].arrangement == "at once"
    job = request.job(box, "siblings")
    jobs = [job.for_member(index) for index in range(len(job.members))]

    def run(job: Job) -> Ending:
        env = _environment(request, box, seed)
        return process.run(box, job, env, request.timeout, alone=not at_once)

    if not at_once:
        return [run(job) for job in jobs]
    pool = ThreadPoolExecutor(len(jobs))
    try:
        return list(pool.map(run, jobs))
    finally:
        # After an interrupt they are still at work, and each thread waits for the end of its own.
        process.end_stragglers(box)
        pool.shutdown(cancel_futures=True)


def _environment(request: Request, box: Sandbox, seed: int | None) -> dict[str, str]:
    return box.environment(sandbox.new_seed() if seed is None else seed, request.pytensor_flags)
