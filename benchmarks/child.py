"""The measured process. `python -m benchmarks.child JOB.json` does one job and reports to a file.

Under `fork` this interpreter is the parent: it imports pytensor and numba, builds nothing and
forks; the child measures and leaves by os._exit, as a worker of a process pool would.
"""

import time

FIRST_LINE = time.monotonic()

import ctypes  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import traceback  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from benchmarks import trace  # noqa: E402


def main() -> None:
    """Do the job whose file is the only argument."""
    _die_with_parent()
    job = json.loads(Path(sys.argv[1]).read_text())
    trace.event("interpreter ready", role=job["role"], scenario=job["cell"]["scenario"])
    job["first_line"] = FIRST_LINE
    if job["cell"]["launch"] == "spawn" or job["role"] == "reader":
        _work(job)
        return
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
        _die_with_parent(parent)
        code = 1
        try:
            trace.event("forked")
            _work(job)
            code = 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        _report(job, {"signal": os.WTERMSIG(status)})


def _work(job: dict[str, Any]) -> None:
    """Measure and report; an exception is a report too."""
    try:
        if "import_seconds" not in job:
            job["import_seconds"] = _import_subject(job)
            job["fresh_import"] = True
        from benchmarks import scenarios

        report = scenarios.measure(job)
    except Exception as error:
        traceback.print_exc()
        report = {"status": "raised", "message": f"{type(error).__name__}: {error}"[:2000]}
    _report(job, report)


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


def _die_with_parent(parent: int | None = None) -> None:
    """Have the kernel end this process when its parent dies, even of SIGKILL (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os._exit(1)  # it died before the request


if __name__ == "__main__":
    main()
