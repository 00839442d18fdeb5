"""How one measured process brings forth others: one fork, or siblings in some arrangement.

Runs in the environment under test, in the parent. What a child does is the caller's `work`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import report, trace
from benchmarks.parent import end_with_parent

Job = dict[str, Any]
Work = Callable[[Job], int]
"""Does a job and reports; returns the exit status."""

RAISED = 3
"""Exit status of a process that has reported an exception."""
_THREADS = 2
_LONGEST_TEMPORARY = 70
"""Characters of a directory in which multiprocessing can still make a socket, of 107 in all."""


def fork_one(job: Job, work: Work) -> None:
    """The measured process as a fork of this one, which has built nothing."""
    _wait_for(job, _fork(job, work))


def fork_siblings(job: Job, work: Work) -> None:
    """A child for each of the job's members, arranged as the scenario says."""
    _ARRANGEMENTS[job["cell"]["scenario"]](_jobs_of_siblings(job), work)


def serve_siblings(job: Job) -> None:
    """The same from a fork server, which has imported nothing: each child imports for itself."""
    # Here: what is imported before the clocks is not measured by them.
    import multiprocessing
    import tempfile

    if len(tempfile.gettempdir()) > _LONGEST_TEMPORARY:
        tempfile.tempdir = "/tmp"  # noqa: S108 - of this process alone, for the server's socket
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([])  # type: ignore[attr-defined,unused-ignore]
    at_once = job["cell"]["scenario"] == "siblings_at_once"
    started = []
    for each in _jobs_of_siblings(job):
        process = context.Process(target=_serve, args=(each,))
        process.start()
        started.append((each, process))
        if not at_once:
            process.join()
    for each, process in started:
        process.join()
        _note_end(each, process.exitcode or 0)


def _serve(job: Job) -> None:
    from benchmarks import child  # not at the top: it imports this module

    sys.exit(child.work(job))


def _jobs_of_siblings(job: Job) -> list[Job]:
    return [
        {**job, "members": [member], "report": f"{job['report']}.{index}"}
        for index, member in enumerate(job["members"])
    ]


def _in_turn(jobs: list[Job], work: Work) -> None:
    for job in jobs:
        _wait_for(job, _fork(job, work))


def _at_once(jobs: list[Job], work: Work) -> None:
    for job, pid in [(job, _fork(job, work)) for job in jobs]:
        _wait_for(job, pid)


def _nested(jobs: list[Job], work: Work) -> None:
    """Two by two: the first forks the second before it builds, so that both begin alike."""
    for first in range(0, len(jobs), 2):
        inner = jobs[first + 1 : first + 2]

        def fork_then_work(job: Job, inner: list[Job] = inner) -> int:
            _in_turn(inner, work)
            return work(job)

        _in_turn(jobs[first : first + 1], fork_then_work)


def _after_build(jobs: list[Job], work: Work) -> None:
    """The parent builds the first member itself; its children have what it has compiled."""
    work(jobs[0])
    _in_turn(jobs[1:], work)


def _beside_threads(jobs: list[Job], work: Work) -> None:
    with _working_threads():
        _in_turn(jobs, work)


@contextmanager
def _working_threads() -> Iterator[None]:
    """Threads that compute with NumPy, as those of a program that then starts workers."""
    import threading

    import numpy as np

    over = threading.Event()

    def busy() -> None:
        values = np.arange(1000.0)
        while not over.wait(0.001):
            values = np.sort(np.cos(values))

    threads = [threading.Thread(target=busy, daemon=True) for _ in range(_THREADS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


_ARRANGEMENTS: dict[str, Callable[[list[Job], Work], None]] = {
    "siblings": _in_turn,
    "siblings_at_once": _at_once,
    "siblings_nested": _nested,
    "siblings_after_build": _after_build,
    "siblings_threads": _beside_threads,
    "siblings_reseeded": _in_turn,  # what differs is the reader
}


def _fork(job: Job, work: Work) -> int:
    """Fork; the child works and leaves by os._exit, as a worker of a pool would. Returns its id."""
    parent = os.getpid()
    trace.event("forking")
    pid = os.fork()
    if pid == 0:
        end_with_parent(signal.SIGKILL, parent)
        code = 1
        try:
            trace.event("forked")
            code = work(job)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return pid


def _wait_for(job: Job, pid: int) -> None:
    _, status = os.waitpid(pid, 0)
    _note_end(job, os.waitstatus_to_exitcode(status))


def _note_end(job: Job, code: int) -> None:
    """Report for a child that could not: how it left, negative for the signal it died of."""
    if code not in (0, RAISED):
        report.write(job, {"exit_code": code})
