"""Several processes fill one cache with a graph each; a fresh process then reads all of them.

What goes wrong among siblings, no single process can see: a key or a symbol that two of them use
for different things. Runs beside the primitive; how a parent forks is `benchmarks.forking`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks import process, sandbox
from benchmarks.catalogue import MEMBERS
from benchmarks.process import Outcome
from benchmarks.records import Found
from benchmarks.request import Request, flags_of, job_of
from benchmarks.sandbox import Sandbox


def take(request: Request, box: Sandbox, seed: int) -> Found:
    """The siblings, arranged as the scenario says, and their reader.

    Children of one parent or server share its hash seed, and so does the reader, as a later run of
    the same program may; who is spawned has a seed of his own. `siblings_reseeded` is the other
    way round.
    """
    members = MEMBERS[request.cell.model]
    reseeded = request.cell.scenario == "siblings_reseeded"
    spawned = request.cell.launch == "spawn"
    one_seed = spawned == reseeded
    take_all = _spawned if spawned else _children
    outcomes = take_all(request, box, seed if one_seed or not spawned else None)
    env = _environment(request, box, seed if one_seed else None)
    reader = process.run(box, job_of(request, "reader"), env, request.timeout)
    return Found(reader, siblings=tuple(zip(members, outcomes, strict=True)))


def _children(request: Request, box: Sandbox, seed: int | None) -> list[Outcome]:
    """One parent, or the server that it starts, forks all of them."""
    env = _environment(request, box, seed)
    parent = process.run(box, job_of(request, "siblings"), env, request.timeout)
    reports = (
        Path(f"{box.out / 'siblings-0.json'}.{index}")
        for index in range(len(MEMBERS[request.cell.model]))
    )
    return [process.outcome_of_fork(parent, report) for report in reports]


def _spawned(request: Request, box: Sandbox, seed: int | None) -> list[Outcome]:
    """A fresh interpreter each."""
    members = MEMBERS[request.cell.model]
    at_once = request.cell.scenario == "siblings_at_once"

    def run(index: int) -> Outcome:
        job = {**job_of(request, "siblings", index), "members": [members[index]]}
        env = _environment(request, box, seed)
        return process.run(box, job, env, request.timeout, alone=not at_once)

    if not at_once:
        return [run(index) for index in range(len(members))]
    pool = ThreadPoolExecutor(len(members))
    try:
        return list(pool.map(run, range(len(members))))
    finally:
        # After an interrupt they are still at work, and each thread waits for the end of its own.
        process.end_stragglers(box)
        pool.shutdown(cancel_futures=True)


def _environment(request: Request, box: Sandbox, seed: int | None) -> dict[str, str]:
    return box.environment(sandbox.new_seed() if seed is None else seed, flags_of(request))
