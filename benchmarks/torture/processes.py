"""Processes under a fault: forks of one that has imported PyTensor and built nothing.

That is how a pool of workers starts them; a fork saves the seconds of the import for each of
hundreds of steps. What PyTensor and numba import only when they build is imported before, too.
Nothing is in the memory of the forked process that a fresh one would not have read after its
import: numba's and PyTensor's caches are first asked when a graph is built.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..parent import fork
from ..typed_json import MessageError, from_json, to_json
from . import shim
from .shim import REFUSALS, Rule
from .verdicts import Ended
from .workload import Seen, Workload, no_core_dumps

_POLL = 0.01
_STUCK = 15.0
"""Seconds for which a second process may wait for a stopped first one, other than for a lock."""
_WORKS = 0.05
"""The part of its time that a process uses the CPU, at least, unless it waits."""
_AT_LOCK = Rule(REFUSALS, "stop")
"""Stops a process where a lock is refused to it, which shows at once that it waits."""


@dataclass
class Running:
    """A forked process that builds graphs."""

    pid: int
    report: Path
    code: int | None = None
    """Its exit status; None while it runs."""

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended or stopped, at most so long; return whether it did."""
        deadline = time.monotonic() + seconds
        while self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
            if pid and os.WIFSTOPPED(status):
                return True
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                return False
            else:
                time.sleep(_POLL)
        return True

    def go_on(self) -> None:
        """Continue it if it is stopped."""
        if self.code is None:
            os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End it now, if it runs, and forget it."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def ended(self, limit: float) -> Ended:
        """Wait for its end and return how it ended; it hangs if it works no more for so long.

        On a busy machine a process that works gets little of the CPU, and may use as many seconds
        of that as the limit has.
        """
        used = 0.0
        while not self.wait(limit):
            before, used = used, cpu_seconds(self.pid)
            if used - before < _WORKS * limit or used >= limit:
                break
        late = self.code is None
        self.kill()
        try:
            seen = from_json(Seen, self.report.read_text(encoding="utf-8"))
        except (OSError, MessageError):
            seen = None
        self.report.unlink(missing_ok=True)
        return Ended(seen, self.code or 0, late)


@dataclass
class Starter:
    """Starts processes that build graphs."""

    workload: Workload
    cache: Path
    """The directory that rules are about."""
    out: Path
    """The directory for reports and output."""
    limit: float
    """Seconds after which a process hangs."""
    started: int = 0

    def preload(self, graphs: tuple[str, ...]) -> None:
        """Import what a process imports while it builds graphs: for C, half of its work each time.

        PyTensor's own modules are left to it, as some of them use the cache, and so is what is in
        the cache.
        """
        names = self.out / "modules.json"

        def list_new() -> None:
            before = set(sys.modules)
            self.workload.run(graphs)
            names.write_text(json.dumps(sorted(sys.modules.keys() - before)), encoding="utf-8")

        self.start((), first=list_new).ended(self.limit)
        for name in json.loads(names.read_text(encoding="utf-8")):
            if name.partition(".")[0] not in ("pytensor", "__main__"):
                with contextlib.suppress(Exception):
                    importlib.import_module(name)

    def start(
        self, graphs: tuple[str, ...], rule: Rule | None = None, *,
        unprivileged: bool = False, settings: Mapping[str, bool] | None = None,
        variables: Mapping[str, str] | None = None,
        first: Callable[[], None] | None = None,
    ) -> Running:  # fmt: skip
        """Fork a process that builds graphs.

        ``rule``: what happens to its calls on the files of the cache.
        ``unprivileged``: permissions hold for it, also if this is root. ``settings``: its flags
        of PyTensor. ``variables``: further ones of its environment. ``first``: what it does before.
        Raises OSError.
        """
        self.started += 1
        report = self.out / f"torture-{self.started}.json"

        def work() -> int:
            no_core_dumps()
            atexit._clear()  # what its parent registered is not its own
            output = os.open(report.with_suffix(".txt"), os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            if first is not None:
                first()
            os.environ.update(variables or {})
            if settings:
                self.workload.configure(settings)
            if unprivileged:
                obey_permissions()
            if rule is not None:
                shim.arm(rule, self.cache)
            seen = self.workload.run(graphs)
            seen = replace(seen, armed=shim.disarm() if rule is not None else 0)
            partial = report.with_suffix(".partial")
            partial.write_text(to_json(seen), encoding="utf-8")
            partial.rename(report)
            atexit._run_exitfuncs()  # PyTensor deletes old modules when a process exits
            return 0

        return Running(fork(work), report)

    def run(
        self, graphs: tuple[str, ...], rule: Rule | None = None, *,
        unprivileged: bool = False, settings: Mapping[str, bool] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> Ended:  # fmt: skip
        """Fork a process as `start` does, and wait for its end."""
        one = self.start(
            graphs, rule, unprivileged=unprivileged, settings=settings,
            variables=variables,
        )  # fmt: skip
        return one.ended(self.limit)

    def together(self, count: int, graphs: tuple[str, ...]) -> list[Ended]:
        """Let so many processes build the same graphs at once; return how each ended."""
        reading, writing = os.pipe()

        def await_all() -> None:
            os.close(writing)
            os.read(reading, 1)  # returns when every other end is closed: all begin at once

        running = [self.start(graphs, first=await_all) for _ in range(count)]
        os.close(reading)
        os.close(writing)
        return [one.ended(self.limit) for one in running]

    def between(
        self,
        first: tuple[str, ...],
        second: tuple[str, ...],
        rule: Rule,
        second_rule: Rule | None = None,
    ) -> list[Ended]:
        """Stop a process by a rule, let a second one run, then let the first go on.

        ``second_rule``: stops the second one in its turn, until the first has ended; None: where
        it waits for a lock, which the first may hold. Returns how both ended.
        """
        one = self.start(first, rule)
        one.wait(self.limit)
        two = self.start(second, second_rule or _AT_LOCK)
        two.wait(min(_STUCK, self.limit))
        one.go_on()
        ended = one.ended(self.limit)
        two.go_on()
        return [ended, two.ended(self.limit)]


def cpu_seconds(pid: int) -> float:
    """The CPU seconds of a process and of its children that have ended."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")


def obey_permissions() -> None:
    """Let permissions of files hold for this process and its children, also if it is root's.

    Raises OSError if the kernel refuses; then root reads what nobody may read.
    """
    if os.geteuid() != 0:
        return
    library = ctypes.CDLL(None, use_errno=True)
    # Programs that root starts would get all capabilities back: SECBIT_NOROOT, and locked.
    library.prctl(28, ctypes.c_ulong(0b11), 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    none = (ctypes.c_uint32 * 6)()
    if library.capset(header, none) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"root cannot give up its rights: {os.strerror(number)}")
