"""The measured process. `python -m benchmarks.child JOB.json` does one job and reports to a file.

Under `fork` this interpreter is the parent: it imports pytensor and numba, builds nothing and
forks; the child measures and leaves by os._exit, as a worker of a process pool would. Under
`forkserver` it imports nothing: the server's children do.
"""

import time

FIRST_LINE = time.monotonic()

import importlib.util  # noqa: E402
import json  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import traceback  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from benchmarks import forking, report, trace  # noqa: E402
from benchmarks.catalogue import SAMPLING  # noqa: E402
from benchmarks.parent import end_with_parent  # noqa: E402


def main() -> None:
    """Do the job whose file is the only argument."""
    end_with_parent(signal.SIGKILL)
    job = json.loads(Path(sys.argv[1]).read_text())
    trace.event("interpreter ready", role=job["role"], scenario=job["cell"]["scenario"])
    job["first_line"] = FIRST_LINE
    launch = job["cell"]["launch"]
    # A sampler starts its chains under the launch itself.
    if launch == "spawn" or job["role"] == "reader" or job["cell"]["scenario"] in SAMPLING:
        sys.exit(work(job))
    if launch == "forkserver":
        forking.serve_siblings(job)
        return
    job["import_seconds"] = _import_subject(job)
    if job["role"] == "siblings":
        forking.fork_siblings(job, work)
    else:
        forking.fork_one(job, work)


def work(job: dict[str, Any]) -> int:
    """Measure and report; an exception is a report too. Returns the exit status."""
    code = 0
    try:
        if "import_seconds" not in job:
            job["import_seconds"] = _import_subject(job)
            job["fresh_import"] = True
        from benchmarks import scenarios

        found = scenarios.measure(job)
    except Exception as error:
        traceback.print_exc()
        found = {"status": "raised", "message": f"{type(error).__name__}: {error}"[:2000]}
        code = forking.RAISED
    report.write(job, found)
    return code


def _import_subject(job: dict[str, Any]) -> dict[str, float]:
    """Import what the user of this model imports; seconds by package."""
    seconds = {}
    packages = ["pytensor", "numba"]
    if job["cell"]["model"] == "radon_pymc":
        packages.append("pymc")
    for package in packages:
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
