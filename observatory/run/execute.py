"""Carrying out one task: a process in the environment under test takes the sample.

If several processes filled one of numba's caches, the metrics of its symbols are added.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Literal

from observatory.benchmarks.catalogue import (
    BACKENDS,
    MEMBERS,
    SAMPLE_SCHEMA,
    SCENARIOS,
    SIBLINGS,
    SYMBOLS,
)
from observatory.benchmarks.messages import Failure, SampleRecord, name_of_signal
from observatory.benchmarks.plan import Task
from observatory.benchmarks.typed_json import to_json
from observatory.guard.scan.scanning import NoCacheError, scan
from observatory.run.environments import Environment
from observatory.run.started import Started, end
from observatory.store.base.strict_json import InvalidError, read_json
from observatory.store.records.sample import Sample

FailedStatus = Literal["raised", "killed", "timeout"]
"""How a sample ended that left no record."""
_CODES: Mapping[int, tuple[str, ...]] = {
    0: ("ok",), 3: ("raised", "killed", "timeout"), 4: ("unavailable",),
}  # fmt: skip
"""The statuses of a record by the exit status of `benchmarks.sample`."""
_MARGIN = 60.0
"""Seconds that a sample may take beyond the time limits of its own processes."""


class Cancelled(Exception):
    """The run is being cancelled: the task was ended, or was not started."""


@dataclass(eq=False)
class Executor:
    """Takes samples in one environment, and ends those that are running when it is cancelled."""

    environment: Environment
    """The environment under test."""
    caches: Path
    """The directory of filled caches, for the cells that start from them."""
    timeout: float
    """The time limit for each process of a sample, in seconds."""
    data: Path | None = None
    """A CSV file of real radon data, for models that take it."""
    graphs: Path | None = None
    """A file that describes the graphs of the model, as `benchmarks.described` reads it."""
    flags: str | None = None
    """Additional PYTENSOR_FLAGS, as a user would set them."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Additional variables of the measured processes, as a user would set them."""
    place: Path | None = None
    """Where samples have their directories: caches, TMPDIR; None: with other temporary files."""
    only: Sequence[str] = ()
    """The members to build of each model; empty: all of them."""
    _running: set[Started] = field(default_factory=set)
    _cancelled: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, task: Task) -> Sample:
        """Take the sample; one that fails is returned with its failure.

        If siblings fill a cache of numba's, the metrics of its symbols are added. Raises Cancelled.
        """
        if not shares_cache(task):
            return self._take(task)
        kept = f"scanned-{secrets.token_hex(4)}"
        try:
            return with_symbols(self._take(replace(task, keep=kept)), self.caches / kept)
        finally:
            shutil.rmtree(self.caches / kept, ignore_errors=True)

    def holds(self, cache: str) -> bool:
        """Return whether a filled cache is there."""
        return (self.caches / cache).is_dir()

    def _take(self, task: Task) -> Sample:
        started_at = datetime.now(UTC)
        seal = secrets.token_hex(16)
        process = self._start(task, seal)
        limit = self.timeout * SCENARIOS[task.cell.scenario].limits + _MARGIN
        late = ""
        try:
            stdout, stderr = process.printed(limit)
        except subprocess.TimeoutExpired:
            stdout, stderr = end(process)
            late = f"the sample did not end within {limit:g} s and was ended"
        finally:
            with self._lock:
                self._running.discard(process)
        if self._cancelled:
            raise Cancelled
        try:
            sample = _record(task, seal, stdout, process.returncode)
        except InvalidError as error:
            if late:
                failure = Failure(message=late, signal=None, exit_code=None, stderr=_tail(stderr))
                sample = without_record(task, started_at, failure, "timeout")
            else:
                sample = _crashed(task, started_at, process.returncode, stderr, str(error))
        return _uncounted(sample) if task.measure == "work" else sample

    def cancel(self) -> None:
        """End every sample that is running, and start no other."""
        with self._lock:
            self._cancelled = True
            running = list(self._running)
        for process in running:
            process.send_signal(signal.SIGTERM)  # the benchmark process cleans up after itself
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            if process.poll() is None:
                process.kill()

    def _start(self, task: Task, seal: str) -> Started:
        cell = task.cell
        start = task.cache if task.cache and self.holds(task.cache) else None
        options = {
            "--pass": task.measure,
            "--model": cell.model,
            "--scenario": cell.scenario,
            "--backend": cell.backend,
            "--launch": cell.launch,
            "--timeout": self.timeout,
            "--cache": start and self.caches / start,
            "--hash-seed": task.hash_seed,
            "--keep-cache": task.keep and self.caches / task.keep,
            "--keep-fresh": task.keep_fresh and self.caches / task.keep_fresh,
            "--flags": self.flags,
            "--radon-data": self.data and self.data.absolute(),
            "--described": self.graphs and self.graphs.absolute(),
        }
        given = ((option, str(value)) for option, value in options.items() if value is not None)
        words = ("--end-with-parent", "--sealed", *chain.from_iterable(given))
        for name, value in self.variables.items():
            words += ("--variable", f"{name}={value}")
        words += ("--imports",) if task.imports else ()
        own = [name for name in MEMBERS.get(cell.model, ()) if name in self.only]
        words += tuple(chain.from_iterable(("--graph", name) for name in own))
        with self._lock:
            if self._cancelled:
                raise Cancelled
            process = self.environment.start(
                self.caches, "benchmarks.sample", *words, line=seal, place=self.place
            )
            self._running.add(process)
        return process


def _record(task: Task, seal: str, stdout: str, code: int) -> Sample:
    """The record that a sample's process printed. Raises InvalidError if it is not of this task.

    Whatever the measured process printed or had printed is none: it does not know the seal, and a
    process that was killed has no record.
    """
    begun, _, text = stdout.partition(" ")
    if begun != seal:
        raise InvalidError("its output does not begin with the code that this sample was given")
    sample = read_json(Sample, text)
    if (sample.cell, sample.measure) != (task.cell, task.measure):
        raise InvalidError(
            f"it is a record of {sample.cell} ({sample.measure}), which was not requested"
        )
    if sample.status not in _CODES.get(code, ()):
        raise InvalidError(f"its status {sample.status} does not fit how the process ended")
    return sample


def _crashed(task: Task, started_at: datetime, code: int, stderr: str, problem: str) -> Sample:
    """The sample of a process that printed no record: it is broken, or was killed itself."""
    died_of = name_of_signal(-code) if code < 0 else None
    died = f"died of {died_of}" if died_of else f"exited with code {code}"
    failure = Failure(
        message=f"the benchmark process {died} without a valid record: {problem}"[:4000],
        signal=died_of,
        exit_code=None if died_of else code,
        stderr=_tail(stderr),
    )
    return without_record(task, started_at, failure, "killed" if died_of else "raised")


def _tail(stderr: str) -> tuple[str, ...]:
    lines = [line[:1000] for line in stderr.splitlines() if line.strip()]
    return tuple(lines[-20:])


def _uncounted(sample: Sample) -> Sample:
    """A sample of work that took too long is not there; the subject has not failed.

    A span is fifty times slower where valgrind counts it, and how long that takes depends on what
    else the machine does. Whether a build hangs is told by the other passes.
    """
    if sample.status != "timeout" or sample.failure is None:
        return sample
    message = f"counting takes too long, and --timeout sets the limit: {sample.failure.message}"
    failure = sample.failure.model_copy(update={"message": message})
    return sample.model_copy(update={"status": "unavailable", "failure": failure, "metrics": {}})


def without_record(
    task: Task, started_at: datetime, failure: Failure, status: FailedStatus
) -> Sample:
    """The sample of a task that left no record, for the reason that ``failure`` gives."""
    record = SampleRecord(
        schema=SAMPLE_SCHEMA,
        cell=task.cell,
        measure=task.measure,
        hash_seed=0,
        started_at=started_at.isoformat(),
        status=status,
        failure=failure,
        metrics={"crashed": 1},
        absent={},
    )
    return read_json(Sample, to_json(record))


def shares_cache(task: Task) -> bool:
    """Return whether the processes of a sample leave functions in one cache of numba's."""
    return (
        task.cell.scenario in SIBLINGS
        and task.measure == "counting"
        and BACKENDS[task.cell.backend].may_use_numba
        and task.keep is None
    )


def with_symbols(sample: Sample, cache: Path) -> Sample:
    """Return the sample with `collided_symbols` and `vulnerable_symbols` of the cache it filled.

    They are absent, with the reason, if a file cannot be read: a count without it may be too low.
    A sample without a cache is returned as it is.
    """
    if not cache.is_dir():
        return sample
    found, why = {}, ""
    try:
        report = scan(cache)
        found = {name: getattr(report, name) for name in SYMBOLS}
        if report.unreadable:
            broken = report.unreadable[0]
            why = f"{broken.path} cannot be read: {broken.reason}"
    except NoCacheError:
        why = "these processes left no cache of numba's"
    if why:
        absent = sample.absent | dict.fromkeys(SYMBOLS, why[:2000])
        return sample.model_copy(update={"absent": absent})
    absent = {name: why for name, why in sample.absent.items() if name not in found}
    return sample.model_copy(update={"metrics": sample.metrics | found, "absent": absent})
