"""One task carried out: the primitive as a process of the environment under test."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import signal
import subprocess
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from benchmarks.catalogue import SAMPLE_SCHEMA, SIBLINGS
from benchmarks.messages import Failure, SampleRecord
from benchmarks.plan import Task
from benchmarks.typed_json import to_json
from observatory.guard import symbols
from observatory.run.environments import Environment
from observatory.store.records.sample import Sample

_GRACE = 60.0
"""Seconds that a sample may take beyond the limits it sets its own processes."""


class Cancelled(Exception):
    """Raised by a task that was not started, or was ended, because the run is being cancelled."""


@dataclass
class Executor:
    """Runs samples with one interpreter; ends those under way when it is cancelled."""

    environment: Environment
    """The environment under test."""
    caches: Path
    """Where filled caches are kept for the cells that start from them."""
    timeout: float
    """Seconds for each process of a sample."""
    data: Path | None = None
    flags: str | None = None
    """Further PYTENSOR_FLAGS, which a user would set."""
    _running: set[subprocess.Popen[str]] = field(default_factory=set)
    _cancelled: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, task: Task) -> Sample:
        """Take the sample. Whatever goes wrong with it is a sample too. Raises Cancelled.

        What siblings leave in numba's cache is scanned, and its metrics are added.
        """
        if not symbols.wanted(task):
            return self._take(task)
        kept = f"scanned-{secrets.token_hex(4)}"
        try:
            return symbols.added(self._take(replace(task, keep=kept)), self.caches / kept)
        finally:
            shutil.rmtree(self.caches / kept, ignore_errors=True)

    def _take(self, task: Task) -> Sample:
        started_at = datetime.now(UTC)
        process = self._start(self._command(task))
        # Ten processes at most: eight siblings, a reader, a filler.
        limit = self.timeout * (10 if task.cell.scenario in SIBLINGS else 2) + _GRACE
        try:
            stdout, stderr = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            stdout, stderr = _end(process)
            stderr += f"\nthe sample did not end within {limit:g} s"
        finally:
            with self._lock:
                self._running.discard(process)
        if self._cancelled:
            raise Cancelled
        try:
            return Sample.model_validate_json(stdout)
        except ValidationError as error:
            return _unreadable(task, started_at, process.returncode, stderr, error)

    def cancel(self) -> None:
        """End every sample under way, and let no other begin."""
        with self._lock:
            self._cancelled = True
            running = list(self._running)
        for process in running:
            process.send_signal(signal.SIGTERM)  # the primitive cleans up after itself
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            if process.poll() is None:
                process.kill()

    def _start(self, command: list[str]) -> subprocess.Popen[str]:
        with self._lock:
            if self._cancelled:
                raise Cancelled
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=self.caches,
                env=self.environment.variables(),
                # Ctrl-C reaches it through `cancel`, not through the terminal.
                start_new_session=True,
            )
            self._running.add(process)
        return process

    def _command(self, task: Task) -> list[str]:
        cell = task.cell
        command = self.environment.command("benchmarks.sample", "--pass", task.measure)
        command += ["--model", cell.model, "--scenario", cell.scenario]
        command += ["--backend", cell.backend, "--launch", cell.launch]
        command += ["--timeout", str(self.timeout), "--end-with-parent"]
        if task.cache is not None and (self.caches / task.cache).is_dir():
            command += ["--cache", str(self.caches / task.cache)]
        if task.hash_seed is not None:
            command += ["--hash-seed", str(task.hash_seed)]
        if task.keep is not None:
            command += ["--keep-cache", str(self.caches / task.keep)]
        if task.keep_fresh is not None:
            command += ["--keep-fresh", str(self.caches / task.keep_fresh)]
        if self.flags is not None:
            command += ["--flags", self.flags]
        if self.data is not None:
            command += ["--radon-data", str(self.data.absolute())]
        return command


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    process.send_signal(signal.SIGTERM)
    try:
        return process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()


def _unreadable(
    task: Task, started_at: datetime, code: int, stderr: str, error: ValidationError
) -> Sample:
    """The record of a primitive that printed none: it is broken, or was itself killed."""
    died = f"died of {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"
    problem = error.errors(include_url=False, include_input=False)[0]["msg"]
    lines = [line[:1000] for line in stderr.splitlines() if line.strip()]
    record = SampleRecord(
        schema=SAMPLE_SCHEMA,
        cell=task.cell,
        measure=task.measure,
        hash_seed=0,
        started_at=started_at.isoformat(),
        status="killed" if code < 0 else "raised",
        failure=Failure(
            message=f"the primitive {died} without a valid record: {problem}"[:4000],
            signal=signal.Signals(-code).name if code < 0 else None,
            exit_code=code if code >= 0 else None,
            stderr=tuple(lines[-20:]),
        ),
        metrics={"crashed": 1},
        absent={},
    )
    return Sample.model_validate_json(to_json(record))
