"""Runs the suite: each area in a process of its own, which may die without costing the others."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.contracts.contract import FAILED, Area
from benchmarks.contracts.suite import AREAS
from benchmarks.sandbox import Sandbox, new_seed, sweep

DEFAULT_TIMEOUT = 300.0
_STDERR_BYTES = 4000


@dataclass(frozen=True)
class Verdict:
    """What became of one contract."""

    name: str
    status: str
    detail: str
    seconds: float


def verdicts(wanted: Sequence[str], timeout: float = DEFAULT_TIMEOUT) -> dict[str, Verdict]:
    """Check contracts, by name, in a sandbox that is removed again.

    ``timeout``: seconds for each area; what has not been checked by then is `failed`.
    """
    sweep()
    box = Sandbox.make()
    try:
        found: dict[str, Verdict] = {}
        for area in AREAS:
            found |= _area(box, area, set(wanted), timeout)
    finally:
        box.remove()
    return found


def _area(box: Sandbox, area: Area, wanted: set[str], timeout: float) -> dict[str, Verdict]:
    names = [contract.name for contract in area.contracts if contract.name in wanted]
    deadline = time.monotonic() + timeout
    found: dict[str, Verdict] = {}
    while left := [name for name in names if name not in found]:
        report = box.out / f"{area.name}-{len(found)}.jsonl"
        ending = _run(box, report, left, max(1.0, deadline - time.monotonic()))
        events = _events(report)
        for event in events:
            if "done" in event:
                found[event["done"]] = Verdict(
                    event["done"], event["status"], event["detail"], event["seconds"]
                )
        if ending.timed_out:
            late = f"not checked: its area took longer than {timeout:g} s"
            found |= {name: Verdict(name, FAILED, late, 0.0) for name in left if name not in found}
        elif any(name not in found for name in left):
            # The one it was at, or the first if it did not get that far, must not be met again.
            begun = [event["begun"] for event in events if "begun" in event]
            name = next((one for one in reversed(begun) if one not in found), None)
            culprit = name or next(one for one in left if one not in found)
            found[culprit] = Verdict(culprit, FAILED, ending.told(), 0.0)
    return found


@dataclass(frozen=True)
class _Ending:
    code: int
    timed_out: bool
    last: str

    def told(self) -> str:
        if self.code < 0:
            return f"the process that checked it died of {signal.Signals(-self.code).name}"
        return f"the process that was to check it left with exit code {self.code}: {self.last}"


def _run(box: Sandbox, report: Path, names: Iterable[str], timeout: float) -> _Ending:
    stderr_file = report.with_suffix(".stderr")
    with stderr_file.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.contracts.child", str(report), *names],
            cwd=box.work,
            env=box.environment(new_seed(), None),
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            start_new_session=True,
        )
        timed_out = False
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            # Its helpers are in its session, however it ended.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    text = stderr_file.read_bytes()[-_STDERR_BYTES:].decode(errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    return _Ending(process.returncode, timed_out, lines[-1][:500] if lines else "it said nothing")


def _events(report: Path) -> list[dict[str, Any]]:
    """Every whole line of a report; the last may be torn."""
    events = []
    with contextlib.suppress(OSError):
        for line in report.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError):
                events.append(json.loads(line))
    return events
