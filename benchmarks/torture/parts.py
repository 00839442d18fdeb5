"""The processes that try faults: several at once, each with some of the faults of one cache.

Each forks those that are judged, and appends the record of a fault to its journal. If one dies, the
fault that it was trying is recorded so, and a new process tries the rest.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from ..environment import processor, versions
from ..parent import end_with_parent
from ..process import end_stragglers
from ..sandbox import Sandbox
from ..sweeping import sweep
from ..typed_json import MessageError, from_json, to_json
from . import shim
from .copies import Copies, Skip
from .making import SCHEMA, Fault, FaultRecord, Other, TortureRecord, printable
from .processes import Starter
from .trials import Torture
from .workload import Cache, Workload

_PACKAGES = ("pytensor", "numba", "llvmlite", "numpy", "scipy", "filelock")
_PARTS: dict[Cache, int] = {"numba": 2, "c": 2}
"""Processes that share the faults of a cache: two cores have work while one waits for a lock."""
_HASH_SEED = 1
_POLL = 0.2
_FLAGS = {"numba": "", "c": "compile__timeout=20,blas__ldflags="}
"""What each cache's processes are told: how long to wait for a lock, and not to look for a BLAS."""


@dataclass(frozen=True)
class How:
    """How faults are tried."""

    steps: int = 64
    """Of a fault, at most."""
    limit: float = 300.0
    """Seconds after which a process hangs."""
    others: Mapping[Other, str] = field(default_factory=dict)
    """The interpreters of environments that have another version of something, by its name."""
    journal: Path | None = None
    """The directory in which every fault is recorded at once; None: one that is removed."""
    budget: float = math.inf
    """Seconds after which no fault goes on; those without a record are left for a later run.

    A fault goes on all the same if it was in progress when the budget of an earlier run with this
    journal was over: begun anew each time, it would never end.
    """


@dataclass
class _Part:
    """Some faults of one cache, and the process that tries them."""

    box: Sandbox
    cache: Cache
    faults: Sequence[Fault]
    how: How
    library: Path | None
    journal: Path
    """The file to which every fault is appended."""
    records: list[FaultRecord] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None
    late: str = ""
    """The fault that was in progress when the budget of an earlier run was over."""

    def __post_init__(self) -> None:
        self._read()
        with contextlib.suppress(OSError):
            self.late = self._note.read_text(encoding="utf-8")

    @property
    def left(self) -> list[Fault]:
        """The faults that have no record."""
        done = {one.name for one in self.records}
        return [one for one in self.faults if one.name not in done]

    def go_on(self, over: bool) -> bool:
        """Read what the process has done, and start one if faults are left; whether any are.

        ``over``: the time is. Then the process is ended, unless it tries the fault that is late.
        """
        if self.process is not None:
            if self.process.poll() is None:
                if over and not self._is_late():
                    self.end()
                return self.process is not None
            self._read()
            self._explain()
            self.process = None
        if self.left and not over:
            self._start()
        return self.process is not None

    def _is_late(self) -> bool:
        """Whether the fault in progress was so when an earlier run was over; else note it."""
        done = {one.name for one in self._recorded()}
        current = next((one.name for one in self.faults if one.name not in done), self.late)
        if current != self.late:
            self._note.write_text(current, encoding="utf-8")
        return current == self.late

    @property
    def _note(self) -> Path:
        return self.journal.with_suffix(".late")

    def _start(self) -> None:
        only = [word for one in self.left for word in ("--only", one.name)]
        others = [word for name, python in self.how.others.items()
                  for word in ("--other", f"{name}={python}")]  # fmt: skip
        env = self.box.environment(_HASH_SEED, _FLAGS[self.cache])
        if self.library is not None:
            env["LD_PRELOAD"] = str(self.library)
        command = [
            sys.executable, "-m", "benchmarks.torture", "--append-to", str(self.journal),
            "--cache", self.cache, "--steps", str(self.how.steps), "--limit", str(self.how.limit),
            "--kept", str(self.box.out / "kept"), "--live", str(self.box.cache / "pytensor"),
            *others, *only,
        ]  # fmt: skip
        with self._stderr.open("wb") as stream:
            self.process = subprocess.Popen(
                command, cwd=self.box.work, env=env, stdin=subprocess.DEVNULL, stdout=stream,
                stderr=stream, start_new_session=True,
            )  # fmt: skip

    @property
    def _stderr(self) -> Path:
        return self.box.out / "stderr"

    def _read(self) -> None:
        """Read the journal, and cut off a line that was not written to its end."""
        every = list(self._recorded())
        known = {one.name for one in self.faults}
        self.records = [one for one in every if one.name in known]
        partial = self.journal.with_suffix(".partial")
        partial.write_text("".join(f"{to_json(one)}\n" for one in every), encoding="utf-8")
        partial.replace(self.journal)

    def _recorded(self) -> Iterator[FaultRecord]:
        """The records in the journal, to which the process may append meanwhile."""
        with contextlib.suppress(OSError, MessageError):
            for line in self.journal.read_text(encoding="utf-8", errors="replace").splitlines():
                yield from_json(FaultRecord, line)

    def _explain(self) -> None:
        """Record a fault in which the process ended."""
        assert self.process is not None
        if self.left:
            # They are tried in order: it ended in the first one that has no record.
            said = self._stderr.read_text(errors="replace").splitlines()
            last = printable(said[-1][:300]) if said else "it wrote nothing"
            reason = f"the process that tried it left with status {self.process.returncode}: {last}"
            self.records.append(untried(self.left[0], reason))
            _append(self.journal, self.records[-1])

    def end(self) -> None:
        """Kill the process and all that it started, and read what it has recorded."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
            self._read()


def _append(journal: Path, record: FaultRecord) -> None:
    with journal.open("a", encoding="utf-8") as stream:
        stream.write(to_json(record) + "\n")


def untried(fault: Fault, reason: str) -> FaultRecord:
    """The record of a fault that was not tried."""
    return FaultRecord(
        fault.name, fault.cache, fault.group, fault.what, fault.certain, None, None, (), reason, 0.0
    )


def take(faults: Sequence[Fault], how: How) -> TortureRecord:
    """Try faults in a sandbox, in several processes at once, and return the record.

    Raises OSError if a process cannot start.
    """
    began, used, started_at = time.monotonic(), _cpu_seconds(), datetime.now(UTC)
    sweep()
    every: list[_Part] = []
    with Sandbox.open() as box:
        library = None
        with contextlib.suppress(shim.NoShim):
            library = shim.build(box.out)
        journal = how.journal or box.out
        journal.mkdir(parents=True, exist_ok=True)
        try:
            for cache, parts in _PARTS.items():
                own = [one for one in faults if one.cache == cache]
                for at in range(parts):
                    name = f"{cache}-{at}"
                    inside, file = box.within(name), journal / f"{name}.jsonl"
                    every.append(_Part(inside, cache, own[at::parts], how, library, file))
            running = list(every)
            while running:
                over = time.monotonic() - began >= how.budget
                running = [part for part in running if part.go_on(over)]
                time.sleep(_POLL)
        finally:
            for part in every:
                part.end()
            end_stragglers(box)
    found = {(one.cache, one.name): one for part in every for one in part.records}
    tried = [found[key] for one in faults if (key := (one.cache, one.name)) in found]
    return TortureRecord(
        schema=SCHEMA,
        environment={**versions(_PACKAGES), "cpu": processor()},
        steps=how.steps,
        faults=tuple(tried),
        seconds=round(time.monotonic() - began, 3),
        cpu_seconds=round(_cpu_seconds() - used, 3),
        load=round(os.getloadavg()[0], 2),
        started_at=started_at.isoformat(),
        left=len(faults) - len(tried),
    )


def _cpu_seconds() -> float:
    """The CPU seconds of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def append(
    faults: Sequence[Fault], cache: Cache, how: How, journal: Path, kept: Path, live: Path
) -> NoReturn:
    """Try faults of a cache, append the record of each to a journal, and leave by `os._exit`.

    ``kept`` is for copies of the cache, and ``live`` is where PyTensor looks for it. Raises OSError
    if the journal cannot be written.
    """
    end_with_parent(signal.SIGKILL)
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    reason = ""
    torture = None
    try:
        copies = Copies(cache, Starter(Workload(cache), live, kept.parent, how.limit), kept)
        copies.prepare()
        torture = Torture(copies, how.steps, how.others)
    except ImportError as error:
        reason = f"this PyTensor has no such cache: {error}"
    except Skip as error:
        reason = str(error)
    for fault in faults:
        record = untried(fault, reason) if reason or not torture else torture.carry_out(fault)
        _append(journal, record)
    os._exit(0)
