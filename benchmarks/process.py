"""One process of the subject: started in its own session, watched, ended with all it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from . import trace
from .catalogue import BACKENDS
from .messages import Job, Report, Status, name_of_signal, read_report
from .probes.process import peak_rss
from .sandbox import MARKER, Sandbox
from .typed_json import MessageError, to_json

_POLL = 0.1
_STDERR_LINES = 20
_STDERR_BYTES = 64_000


@dataclass(frozen=True)
class Exit:
    """How a process ended."""

    code: int
    """Its exit status, negative for the signal that ended it."""
    timed_out: bool
    stderr: tuple[str, ...]
    """The last lines of its output, each of at most 1,000 characters."""
    started: float
    """`time.monotonic()` at the start; the process reports in the same clock."""
    seconds: float
    descendants_rss: int
    """Largest VmHWM among the processes that it started, in bytes; polled ten times a second.

    0 also where the kernel does not list children (CONFIG_PROC_CHILDREN)."""


@dataclass(frozen=True)
class Ending:
    """How a measured process ended, and what it reported."""

    report: Report | None
    """None if it ended before it reported."""
    status: Status
    message: str | None
    exit: Exit
    """Under fork, the code is that of the child."""

    @property
    def failure(self) -> tuple[str | None, int | None]:
        """The name of the signal that killed it, and its exit status if it left by itself."""
        code = self.exit.code
        killed = self.status == "killed" and code < 0
        return name_of_signal(-code) if killed else None, code if code >= 0 else None


def run(
    sandbox: Sandbox,
    job: Job,
    env: dict[str, str],
    timeout: float,
    alone: bool = True,
    interpreter: Sequence[str] = (sys.executable,),
) -> Ending:
    """Run one job of `benchmarks.child` to its end, or to ``timeout`` seconds.

    Whatever happens, KeyboardInterrupt included, nothing that the process started lives on. A
    process that left the session is found by the sandbox in its environment, unless other processes
    of that sandbox run at the same time (``alone`` is False). ``interpreter``: the command that
    starts Python. Raises OSError if it cannot start.
    """
    sandbox.link_caches(BACKENDS[job.cell.backend])
    job_file = job.report.with_suffix(".job.json")
    job_file.write_text(to_json(job), encoding="utf-8")
    try:
        ended = supervise(
            ("benchmarks.child", str(job_file)), sandbox.work, env,
            job.report.with_suffix(".stderr"), timeout, role=job.role, interpreter=interpreter,
        )  # fmt: skip
    finally:
        if alone:
            end_stragglers(sandbox)
    ending = _ending(job.report, ended)
    if ended.timed_out:
        message = f"did not end within {timeout:g} s and was killed"
        return replace(ending, status="timeout", message=message)
    return ending


def supervise(
    command: Sequence[str],
    work: Path,
    env: Mapping[str, str],
    output: Path,
    timeout: float,
    role: str,
    interpreter: Sequence[str] = (sys.executable,),
) -> Exit:
    """Run a module of this package to its end, or to ``timeout`` seconds; then end its session.

    ``command``: the module and its arguments. ``work``: its working directory. ``output``: the file
    that takes its stdout and stderr. ``role``: its name in the trace. ``interpreter``: the command
    that starts Python. Raises OSError if it cannot start.
    """
    with output.open("wb") as stream:
        started = time.monotonic()
        process = subprocess.Popen(
            [*interpreter, "-m", *command],
            cwd=work,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
        trace.event("process started", child=process.pid, role=role)
        try:
            descendants_rss, timed_out = _watch(process, started + timeout)
        finally:
            _end_session(process)
    seconds = time.monotonic() - started
    trace.event("process ended", child=process.pid, code=process.returncode)
    return Exit(process.returncode, timed_out, _tail(output), started, seconds, descendants_rss)


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
    """Kill the processes that left their session: their environment still names the sandbox.

    Does nothing where there is no /proc.
    """
    marker = f"{MARKER}={sandbox.path}".encode()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        pid = int(environ.parent.name)
        try:
            if pid != os.getpid() and marker in environ.read_bytes().split(b"\0"):
                os.kill(pid, signal.SIGKILL)
                trace.event("straggler ended", child=pid)
        except OSError:
            continue


def ending_of_fork(parent: Ending, report_file: Path) -> Ending:
    """Return how one forked sibling ended, from its own report and its own stderr.

    A sibling that ran in its parent has no stderr of its own, but that of the parent. One without a
    report shares the fate of its parent: it timed out, was killed, or raised.
    """
    if report_file.exists():
        own = report_file.with_suffix(".stderr")
        stderr = _tail(own) if own.exists() else parent.exit.stderr
        # The parent waited for it: the parent's own exit code says nothing about this sibling.
        return _ending(report_file, replace(parent.exit, code=0, stderr=stderr))
    message = f"it did not report; its parent: {parent.message}"
    status = parent.status if parent.status in ("timeout", "killed") else "raised"
    return replace(parent, report=None, status=status, message=message)


def _ending(report_file: Path, ended: Exit) -> Ending:
    """How a process ended by itself, from its report and from its exit."""
    unreadable = why = None
    try:
        report = read_report(report_file)
    except MessageError as error:
        report, unreadable = None, f"its report cannot be read: {error}"
    if report is not None and report.status == "died":
        # Under fork, the parent saw how the measured process left.
        ended, why = replace(ended, code=report.exit_code or 0), report.message
        report = None
    code = ended.code
    if code < 0:
        died = why or f"died of {name_of_signal(-code)}"
        return Ending(report, "killed", died, ended)
    if report is None or report.status == "died" or (code != 0 and report.status != "raised"):
        last = ended.stderr[-1] if ended.stderr else "it wrote nothing to stderr"
        when = "before" if report is None else "after"
        message = f"exited with code {code} {when} it reported: {last}"
        return Ending(report, "raised", unreadable or message, ended)
    return Ending(report, report.status, report.message, ended)


def _tail(path: Path) -> tuple[str, ...]:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _STDERR_BYTES))
        text = stream.read().decode("utf-8", "replace")
    lines = (line[:1000] for line in text.splitlines() if line.strip())
    return tuple(lines)[-_STDERR_LINES:]
