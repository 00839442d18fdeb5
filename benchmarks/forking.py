"""Start the children of a measured process: one fork, or siblings as a scenario arranges them.

This runs in the environment under test, in the parent of the forks.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from . import trace
from .catalogue import MODELS, SCENARIOS
from .messages import Job, Report, Step, write_report
from .parent import end_with_parent, fork
from .probes.process import cpu_time_of, queued_time_of

Work = Callable[[Job], int]
"""A function that does a job, writes its report and returns the exit status of the process."""

RAISED = 3
"""Exit status of a process that reported an exception."""
_THREADS = 2
_POLL = 0.01
_LARGER = "not built: a smaller size took more than {:g} s of CPU time, the limit of each"
_LONGEST_TEMPORARY = 70
"""Characters of a directory in which multiprocessing can make a socket, whose path has 107."""


def fork_one(job: Job, work: Work) -> None:
    """Do a job in a fork of this process, and wait for its end.

    If the child dies before it reports, this process reports how. Raises OSError if it cannot fork
    or write.
    """
    _in_turn([job], work)


def fork_siblings(job: Job, work: Work) -> None:
    """Fork a child for each member of the job, as the scenario arranges them, and wait for all.

    The children report as that of `fork_one` does. Raises OSError if it cannot fork or write.
    """
    _ARRANGEMENTS[SCENARIOS[job.cell.scenario].arrangement](job.for_members(), work)


def serve_siblings(job: Job, work: Work) -> None:
    """Do what `fork_siblings` does, with a fork server that has imported nothing.

    ``work`` is a function at the top of a module, because the server's children unpickle it.
    """
    # Not at the top, where it would be imported before `import_time` is measured.
    import multiprocessing
    import tempfile

    if len(tempfile.gettempdir()) > _LONGEST_TEMPORARY:
        tempfile.tempdir = "/tmp"  # noqa: S108 - of this process alone, for the server's socket
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([])  # type: ignore[attr-defined,unused-ignore]
    at_once = SCENARIOS[job.cell.scenario].arrangement == "at once"
    started = []
    for each in job.for_members():
        process = context.Process(target=_serve, args=(work, each))
        process.start()
        started.append((each, process))
        if not at_once:
            process.join()
    for each, process in started:
        process.join()
        _note_end(each, process.exitcode or 0)


def _serve(work: Work, job: Job) -> None:
    end_with_parent(signal.SIGKILL)
    _separate_stderr(job)
    sys.exit(work(job))


def _in_turn(jobs: list[Job], work: Work) -> None:
    if not jobs:  # the last of an odd number of members has no other one beside it
        return
    slow: set[str] = set()
    with _emptying(jobs[0].emptied) as empty:
        for job in jobs:
            size = MODELS[job.cell.model].sizes.get("".join(job.members[:1]))
            if size is not None and size.family in slow:
                _note_limited(job, _LARGER.format(size.limit))
            elif _wait_for(job, _fork(job, work), size.limit if size else math.inf) and size:
                slow.add(size.family)
            empty()


@contextmanager
def _emptying(caches: Path | None) -> Iterator[Callable[[], None]]:
    """Provide a function that removes the files that the caches did not have at this call."""
    before = set() if caches is None else set(caches.rglob("*"))

    def empty() -> None:
        for path in () if caches is None else caches.rglob("*"):
            # Directories stay: PyTensor makes that of numba's functions when it is imported.
            if path not in before and not path.is_dir():
                path.unlink(missing_ok=True)

    yield empty


def _at_once(jobs: list[Job], work: Work) -> None:
    for job, pid in [(job, _fork(job, work)) for job in jobs]:
        _wait_for(job, pid)


def _nested(jobs: list[Job], work: Work) -> None:
    """Start pairs: the first forks the second before it builds, so that both begin alike."""
    for first in range(0, len(jobs), 2):
        inner = jobs[first + 1 : first + 2]

        def fork_then_work(job: Job, inner: list[Job] = inner) -> int:
            _in_turn(inner, work)
            return work(job)

        _in_turn(jobs[first : first + 1], fork_then_work)


def _after_build(jobs: list[Job], work: Work) -> None:
    """Build the first member in the parent; its children inherit the compiled code."""
    work(jobs[0])
    _in_turn(jobs[1:], work)


def _beside_threads(jobs: list[Job], work: Work) -> None:
    """Fork while threads of the parent compute with NumPy."""
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
        _in_turn(jobs, work)
    finally:
        over.set()
        for thread in threads:
            thread.join()


_ARRANGEMENTS: dict[str, Callable[[list[Job], Work], None]] = {
    "in turn": _in_turn,
    "at once": _at_once,
    "nested": _nested,
    "after a build": _after_build,
    "beside threads": _beside_threads,
}


def _fork(job: Job, work: Work) -> int:
    """Do a job in a fork of this process. Returns the child's process id."""

    def do_job() -> int:
        trace.event("forked")
        _separate_stderr(job)
        return work(job)

    trace.event("forking")
    return fork(do_job)


def _separate_stderr(job: Job) -> None:
    """Send what this child writes to stderr to the file of its job, apart from its siblings'."""
    sys.stderr.flush()
    try:
        file = os.open(job.report.with_suffix(".stderr"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        return  # The only child has the job of its parent, and thus the same file.
    os.dup2(file, 2)
    os.close(file)


def _wait_for(job: Job, pid: int, most: float = math.inf) -> bool:
    """Wait for the end of a child; return whether it took more CPU time than it may.

    ``most``: its limit in seconds of CPU. A child that waits for its limit of wall time says
    nothing about larger sizes. Time in which a busy machine gave it no CPU does not count.
    """
    end = math.inf if job.limit is None else time.monotonic() + job.limit
    ended, status = os.waitpid(pid, 0 if job.limit is None else os.WNOHANG)
    why, limited = None, False
    while not ended:
        limited = limited or (most < math.inf and (cpu_time_of(pid) or 0.0) > most)
        late = time.monotonic() > end and time.monotonic() > end + queued_time_of(pid)
        if why is None and (limited or late):
            os.kill(pid, signal.SIGKILL)
            why = f"it was ended after {job.limit} s, its limit"
        time.sleep(_POLL)
        ended, status = os.waitpid(pid, os.WNOHANG)
    if limited:
        _note_limited(job, f"it was ended after {most:g} s of CPU time, its limit")
    else:
        _note_end(job, os.waitstatus_to_exitcode(status), why)
    return limited


def _note_limited(job: Job, why: str) -> None:
    """Report for a graph that takes too long, in place of what it may have reported."""
    write_report(job, Report("ok", steps=(Step(job.members[0], {}, "limited", why),)))


def _note_end(job: Job, code: int, why: str | None = None) -> None:
    """Report for a child that died, in place of what it may have reported."""
    if code not in (0, RAISED):
        write_report(job, Report("died", message=why, exit_code=code))
