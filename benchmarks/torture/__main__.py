"""Put PyTensor's caches under faults: `python -m benchmarks.torture`.

This runs in the environment under test and prints one JSON record on stdout (docs/schemas/). It
writes only into a sandbox, which it removes. Each of the two caches has a process of its own, which
forks those that are judged and appends the record of each fault to a file. If it dies, the fault
that it was trying is recorded so, and a new process tries the rest.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from ..environment import processor, versions
from ..parent import end_with_parent
from ..process import end_stragglers
from ..sandbox import ENDING, Sandbox, end_once
from ..sweeping import sweep
from ..typed_json import MessageError, from_json, to_json
from . import shim
from .copies import Copies, Skip
from .faults import FAULTS
from .making import SCHEMA, Fault, FaultRecord, TortureRecord, printable
from .processes import Starter
from .trials import Torture
from .workload import CACHES, GRAPHS, Cache, Workload

EXIT_DONE = 0
DEFAULT_STEPS = 12
DEFAULT_LIMIT = 300.0
_PACKAGES = ("pytensor", "numba", "llvmlite", "numpy", "scipy", "filelock")
_HASH_SEED = 1
_POLL = 0.2
_FLAGS = {"numba": "", "c": "compile__timeout=20,blas__ldflags="}
"""What each cache's processes are told: how long to wait for a lock, and not to look for a BLAS."""


@dataclass
class _Part:
    """The faults of one cache, and the process that tries them."""

    box: Sandbox
    cache: Cache
    faults: Sequence[Fault]
    steps: int
    limit: float
    library: Path | None
    records: list[FaultRecord] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None
    _report: Path = Path()

    def go_on(self) -> bool:
        """Read what the process has done, and start one if faults are left; whether any are."""
        if self.process is not None:
            if self.process.poll() is None:
                return True
            self._read()
            self.process = None
        if len(self.records) < len(self.faults):
            self._start()
        return self.process is not None

    def _start(self) -> None:
        self._report = self.box.out / f"{self.cache}-{len(self.records)}.jsonl"
        only = [word for one in self.faults[len(self.records) :] for word in ("--only", one.name)]
        env = self.box.environment(_HASH_SEED, _FLAGS[self.cache])
        if self.library is not None:
            env["LD_PRELOAD"] = str(self.library)
        command = [
            sys.executable, "-m", "benchmarks.torture", "--append-to", str(self._report),
            "--cache", self.cache, "--steps", str(self.steps), "--limit", str(self.limit),
            "--kept", str(self.box.out / "kept"), "--live", str(self.box.cache / "pytensor"), *only,
        ]  # fmt: skip
        with self._report.with_suffix(".stderr").open("wb") as stream:
            self.process = subprocess.Popen(
                command, cwd=self.box.work, env=env, stdin=subprocess.DEVNULL, stdout=stream,
                stderr=stream, start_new_session=True,
            )  # fmt: skip

    def _read(self) -> None:
        assert self.process is not None
        found = []
        with contextlib.suppress(OSError, MessageError):
            for line in self._report.read_text(encoding="utf-8", errors="replace").splitlines():
                found.append(from_json(FaultRecord, line))  # noqa: PERF401  it keeps what it read
        self.records += found
        if len(self.records) < len(self.faults):
            # They are tried in order: it ended in the first one that has no record.
            said = self._report.with_suffix(".stderr").read_text(errors="replace").splitlines()
            last = printable(said[-1][:300]) if said else "it wrote nothing"
            reason = f"the process that tried it left with status {self.process.returncode}: {last}"
            self.records.append(untried(self.faults[len(self.records)], reason))

    def end(self) -> None:
        """Kill the process and all that it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def untried(fault: Fault, reason: str) -> FaultRecord:
    """The record of a fault that was not tried."""
    return FaultRecord(
        fault.name, fault.cache, fault.group, fault.what, fault.certain, None, None, (), reason, 0.0
    )


def take(faults: Sequence[Fault], steps: int, limit: float) -> TortureRecord:
    """Try faults in a sandbox, those of both caches at once, and return the record.

    ``steps``: of a fault, at most. ``limit``: seconds after which a process hangs. Raises OSError
    if a process cannot start.
    """
    began, used, started_at = time.monotonic(), _cpu_seconds(), datetime.now(UTC)
    sweep()
    every: list[_Part] = []
    with Sandbox.open() as box:
        library = None
        with contextlib.suppress(shim.NoShim):
            library = shim.build(box.out)
        try:
            for cache in CACHES:
                own = [one for one in faults if one.cache == cache]
                every.append(_Part(box.within(cache), cache, own, steps, limit, library))
            parts = list(every)
            while parts:
                parts = [part for part in parts if part.go_on()]
                time.sleep(_POLL)
        finally:
            for part in every:
                part.end()
            end_stragglers(box)
    return TortureRecord(
        schema=SCHEMA,
        environment={**versions(_PACKAGES), "cpu": processor()},
        steps=steps,
        faults=tuple(record for part in every for record in part.records),
        seconds=round(time.monotonic() - began, 3),
        cpu_seconds=round(_cpu_seconds() - used, 3),
        load=round(os.getloadavg()[0], 2),
        started_at=started_at.isoformat(),
    )


def _cpu_seconds() -> float:
    """The CPU seconds of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def append(faults: Sequence[Fault], options: argparse.Namespace) -> NoReturn:
    """Try faults, append the record of each to a file, and leave by `os._exit`.

    Raises OSError if the file cannot be written.
    """
    end_with_parent(signal.SIGKILL)
    shutil.rmtree(options.kept, ignore_errors=True)
    options.kept.mkdir()
    reason = ""
    torture = None
    try:
        starter = Starter(Workload(options.cache), options.live, options.kept.parent, options.limit)
        copies = Copies(options.cache, starter, options.kept)
        copies.prepare()
        torture = Torture(copies, options.steps)
    except ImportError as error:
        reason = f"this PyTensor has no such cache: {error}"
    except Skip as error:
        reason = str(error)
    for fault in faults:
        record = untried(fault, reason) if reason or not torture else torture.carry_out(fault)
        with options.append_to.open("a", encoding="utf-8") as stream:
            stream.write(to_json(record) + "\n")
    os._exit(0)


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit status, which `--help` lists.

    ``argv``: the arguments; None: those of this process. Raises SystemExit for wrong usage.
    """
    names = list(dict.fromkeys(fault.name for fault in FAULTS))
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.torture",
        description="Apply faults to PyTensor's disk caches, and print the results as JSON.",
        epilog=f"Exit status: {EXIT_DONE} done, whatever came out; 2 wrong usage.",
    )
    parser.add_argument("--only", action="append", choices=names, metavar="NAME",
                        help="try only this fault; repeatable")  # fmt: skip
    parser.add_argument("--cache", choices=CACHES, help="only this cache")
    parser.add_argument("--steps", type=int, default=DEFAULT_STEPS, metavar="N",
                        help="steps of a fault, at most (default %(default)s)")  # fmt: skip
    parser.add_argument("--limit", type=float, default=DEFAULT_LIMIT, metavar="SECONDS",
                        help="a process hangs that lasts longer (default %(default)g)")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="print the faults and exit")
    parser.add_argument("--end-with-parent", action="store_true",
                        help="clean up and exit when the parent process dies")  # fmt: skip
    parser.add_argument("--append-to", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--kept", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--live", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--fill", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--pretty", action="store_true", help="indent the record")
    options = parser.parse_args(argv)
    chosen = [
        one for one in FAULTS
        if one.cache in (options.cache or CACHES) and one.name in (options.only or names)
    ]  # fmt: skip
    if options.list:
        print("\n".join(f"{one.cache} {one.name}: {one.what}" for one in chosen))
        return EXIT_DONE
    if options.fill:
        seen = Workload(options.cache).run(GRAPHS)
        return int(bool(seen.raised or seen.wrong))
    if options.append_to:
        append(chosen, options)
    # A terminated process cleans up like an interrupted one.
    for number in ENDING:
        signal.signal(number, end_once)
    if options.end_with_parent:
        end_with_parent(signal.SIGTERM)
    record = take(chosen, options.steps, options.limit)
    print(to_json(record, indent=2 if options.pretty else None))
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
