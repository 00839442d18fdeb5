"""One measured process: started in a session of its own, watched, ended with all it started."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import report, trace
from benchmarks.probes.process import peak_rss
from benchmarks.sandbox import MARKER, Sandbox

_POLL = 0.1
_STDERR_LINES = 20
_STDERR_BYTES = 64_000


@dataclass(frozen=True)
class Outcome:
    """How a measured process ended, and what it reported if it got that far."""

    report: dict[str, Any] | None
    status: str
    message: str | None
    signal: str | None
    exit_code: int | None
    stderr: list[str]
    started: float
    """time.monotonic() at the start; the child reports in the same clock."""
    seconds: float
    descendants_rss: int
    """Largest VmHWM seen among the processes that it started, in bytes; polled."""


def run(
    sandbox: Sandbox,
    job: dict[str, Any],
    env: dict[str, str],
    timeout: float,
    alone: bool = True,
) -> Outcome:
    """Run one job of `benchmarks.child` to its end, or to `timeout` seconds.

    Whatever happens, KeyboardInterrupt included, nothing it started lives on; what left its session
    is found by the sandbox it carries, unless others of that sandbox run beside it (``alone``).
    """
    name = f"{job['role']}-{job['index']}"
    job_file, report_file = sandbox.out / f"{name}.job.json", sandbox.out / f"{name}.json"
    stderr_file = sandbox.out / f"{name}.stderr"
    job_file.write_text(json.dumps({**job, "report": str(report_file)}))
    with stderr_file.open("wb") as stderr:
        started = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.child", str(job_file)],
            cwd=sandbox.work,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            start_new_session=True,
        )
        trace.event("process started", child=process.pid, role=job["role"])
        try:
            descendants_rss, timed_out = _watch(process, started + timeout)
        finally:
            _end_session(process)
            if alone:
                end_stragglers(sandbox)
    seconds = time.monotonic() - started
    trace.event("process ended", child=process.pid, code=process.returncode)
    lines = _tail(stderr_file)
    found = report.read(report_file)
    code = _reported_code(found, process.returncode)
    status, message, name_of_signal = _verdict(found, code, lines)
    if timed_out:
        status, name_of_signal = "timeout", None
        message = f"did not end within {timeout:g} s and was killed"
    return Outcome(
        report=found,
        status=status,
        message=message,
        signal=name_of_signal,
        exit_code=code if code >= 0 else None,
        stderr=lines if status != "ok" else [],
        started=started,
        seconds=seconds,
        descendants_rss=descendants_rss,
    )


def _watch(process: subprocess.Popen[bytes], deadline: float) -> tuple[int, bool]:
    """Wait for the end; return the largest memory of its descendants, and whether time ran out."""
    largest = 0
    while True:
        try:
            process.wait(min(_POLL, max(0.0, deadline - time.monotonic())))
            return largest, False
        except subprocess.TimeoutExpired:
            largest = max([largest, *(peak_rss(pid) or 0 for pid in _descendants(process.pid))])
        if time.monotonic() >= deadline:
            return largest, True


def _descendants(pid: int) -> list[int]:
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            direct = [int(word) for word in children.read_text().split()]
        except OSError:
            continue
        for child in direct:
            found += [child, *_descendants(child)]
    return found


def _end_session(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def end_stragglers(sandbox: Sandbox) -> None:
    """Kill whoever has left its session: it still carries the sandbox in its environment."""
    marker = f"{MARKER}={sandbox.path}".encode()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        pid = int(environ.parent.name)
        try:
            if pid != os.getpid() and marker in environ.read_bytes().split(b"\0"):
                os.kill(pid, signal.SIGKILL)
                trace.event("straggler ended", child=pid)
        except OSError:
            continue


def outcome_of_fork(parent: Outcome, report_file: Path) -> Outcome:
    """How one forked sibling ended, from its own report and its parent's stderr."""
    found = report.read(report_file)
    if found is None:
        silent = f"it did not report; its parent: {parent.message}"
        fate = parent.status if parent.status in ("timeout", "killed") else "raised"
        return replace(parent, report=None, status=fate, message=silent)
    code = _reported_code(found, 0)
    status, message, name = _verdict(found, code, parent.stderr)
    return replace(
        parent,
        report=found,
        status=status,
        message=message,
        signal=name,
        exit_code=code if code >= 0 else None,
        stderr=[] if status == "ok" else parent.stderr,
    )


def _reported_code(found: dict[str, Any] | None, otherwise: int) -> int:
    """Exit status of the measured process, negative for a signal: under fork its parent saw it."""
    return int((found or {}).get("exit_code", otherwise))


def _verdict(
    found: dict[str, Any] | None, code: int, stderr: list[str]
) -> tuple[str, str | None, str | None]:
    """Status, message and signal of a process that ended by itself."""
    if code < 0:
        name = signal.Signals(-code).name
        return "killed", f"died of {name}", name
    status = (found or {}).get("status")
    if found is None or status is None or (code != 0 and status != "raised"):
        last = stderr[-1] if stderr else "it wrote nothing to stderr"
        when = "before" if status is None else "after"
        return "raised", f"exited with code {code} {when} it reported: {last}", None
    return status, found.get("message"), None


def _tail(path: Path) -> list[str]:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _STDERR_BYTES))
        text = stream.read().decode("utf-8", "replace")
    return [line[:1000] for line in text.splitlines() if line.strip()][-_STDERR_LINES:]
