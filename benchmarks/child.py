"""The measured process. `python -m benchmarks.child JOB.json` does one job and reports to a file.

Under `fork` this interpreter is the parent: it imports pytensor and numba, builds nothing and
forks; the child measures and leaves by os._exit, as a worker of a process pool would.
"""

import time

FIRST_LINE = time.monotonic()

import importlib.util  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import traceback  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from benchmarks import trace  # noqa: E402
from benchmarks.parent import end_with_parent  # noqa: E402


def main() -> None:
    """Do the job whose file is the only argument."""
    end_with_parent(signal.SIGKILL)
    job = json.loads(Path(sys.argv[1]).read_text())
    trace.event("interpreter ready", role=job["role"], scenario=job["cell"]["scenario"])
    job["first_line"] = FIRST_LINE
    if job["cell"]["launch"] == "spawn" or job["role"] == "reader":
        sys.exit(_work(job))
    job["import_seconds"] = _import_subject(job)
    for index, variant in enumerate(job["variants"] if job["role"] == "siblings" else [None]):
        _fork(job, index, variant)


def _fork(job: dict[str, Any], index: int, variant: str | None) -> None:
    """One forked child: for `siblings` each writes a report of its own."""
    if variant is not None:
        job = {**job, "variants": [variant], "report": f"{job['report']}.{index}"}
    parent = os.getpid()
    trace.event("forking")
    pid = os.fork()
    if pid == 0:
        end_with_parent(signal.SIGKILL, parent)
        code = 1
        try:
            trace.event("forked")
            code = _work(job)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        _report(job, {"signal": os.WTERMSIG(status)})
    elif os.WEXITSTATUS(status) not in (0, _RAISED):
        _report(job, {"exit_code": os.WEXITSTATUS(status)})


_RAISED = 3
"""Exit status of a process that has reported an exception."""


def _work(job: dict[str, Any]) -> int:
    """Measure and report; an exception is a report too. Returns the exit status."""
    code = 0
    try:
        if "import_seconds" not in job:
            job["import_seconds"] = _import_subject(job)
            job["fresh_import"] = True
        from benchmarks import scenarios

        report = scenarios.measure(job)
    except Exception as error:
        traceback.print_exc()
        report = {"status": "raised", "message": f"{type(error).__name__}: {error}"[:2000]}
        code = _RAISED
    _report(job, report)
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


def _report(job: dict[str, Any], report: dict[str, Any]) -> None:
    path = Path(job["report"])
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(report))
    partial.rename(path)
    trace.event("reported", role=job["role"])


if __name__ == "__main__":
    main()
