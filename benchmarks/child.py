"""The measured process: `python -m benchmarks.child JOB.json` does one job and reports to a file.

Under `spawn` this interpreter does the job itself. Under `fork` it is the parent: it imports
PyTensor and numba, builds nothing and forks; the child does the job and leaves by `os._exit`, as a
worker of a process pool would. Under `forkserver` it imports nothing, and the server's children do
the job.
"""

import time

FIRST_LINE = time.monotonic()

import atexit  # noqa: E402
import gc  # noqa: E402
import importlib.util  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import traceback  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402

from . import forking, trace  # noqa: E402
from .catalogue import BACKENDS, MODELS, SCENARIOS  # noqa: E402
from .messages import Job, Report, write_report  # noqa: E402
from .parent import end_with_parent  # noqa: E402
from .raised import message_of  # noqa: E402
from .typed_json import from_json  # noqa: E402


def main() -> None:
    """Do the job whose file is the only argument, and exit.

    Do not put a further function on the stack between this one and the build: with one, a build
    executed 0.05 % more instructions (docs/explanation/counts-repeat.md).

    The exit status is 0, or `forking.RAISED` where the job raised an exception. Raises OSError and
    MessageError if the file cannot be read or holds no job.
    """
    end_with_parent(signal.SIGKILL)
    job = from_json(Job, Path(sys.argv[1]).read_text(encoding="utf-8"))
    trace.event("interpreter ready", role=job.role, scenario=job.cell.scenario)
    launch = job.cell.launch
    # A sampler uses the start method for its own chains.
    alone = launch == "spawn" or SCENARIOS[job.cell.scenario].family == "sampling"
    alone = job.role == "reader" or (alone and job.role != "each")
    if not leftovers_count(job, alone):
        # At its end, Python looks for cycles of objects several times: 0.4 of 1.9 s of CPU time.
        atexit.register(gc.freeze)
    if alone:
        sys.exit(work(job))
    if launch == "forkserver":
        forking.serve_siblings(job, work)
        return
    work_of_fork = partial(work, imported=_import_subject(job))
    if job.role == "each":
        from . import scenarios

        scenarios.prepare_forks(job)
    if job.role in ("siblings", "each"):
        forking.fork_siblings(job, work_of_fork)
    else:
        forking.fork_one(job, work_of_fork)


def leftovers_count(job: Job, alone: bool) -> bool:
    """Whether this process builds a graph after which the files that are left behind are counted.

    ``alone``: it does the job without a fork. Such a process must end as a user's does, because
    Python deletes some files only then.
    """
    builds = alone or SCENARIOS[job.cell.scenario].arrangement == "after a build"
    return builds and job.role != "fill" and job.measure == "counting"


def work(job: Job, imported: dict[str, float] | None = None) -> int:
    """Do a job and write its report. An exception is reported too.

    ``imported``: the seconds that the parent of this fork took to import each package; None if this
    process still has to import them. Returns the exit status. Raises OSError if the report cannot
    be written.
    """
    try:
        seconds = imported if imported is not None else _import_subject(job)
        # Not at the top: it imports NumPy, and the parent of a fork imports the subject first.
        from . import scenarios

        report = scenarios.measure(job, FIRST_LINE, seconds, fresh_import=imported is None)
        code = 0
    except Exception as error:
        from .models import NotInThisRelease

        if isinstance(error, NotInThisRelease):
            report, code = Report("unavailable", str(error)[:2000]), 0
        else:
            traceback.print_exc()
            report, code = Report("raised", message_of(error, 2000)), forking.RAISED
    write_report(job, report)
    return code


def _import_subject(job: Job) -> dict[str, float]:
    """Import what a user of this model and backend imports. Returns seconds by package."""
    seconds = {}
    own = (BACKENDS[job.cell.backend].package, *MODELS[job.cell.model].packages)
    for package in dict.fromkeys(("pytensor", "numba", *filter(None, own))):
        begin = time.perf_counter()
        if package == "pytensor":
            import pytensor.tensor  # noqa: F401
        elif importlib.util.find_spec(package) is not None:
            importlib.import_module(package)
        seconds[package] = time.perf_counter() - begin
    trace.event("subject imported")
    return seconds


if __name__ == "__main__":
    main()
