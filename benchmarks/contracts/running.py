"""Run the contracts: each area in a process of its own, so that a crash costs only one contract."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import process
from benchmarks.contracts.contract import Area, Progress, Verdict
from benchmarks.contracts.suite import AREAS
from benchmarks.process import Exit
from benchmarks.sandbox import Sandbox, new_seed, sweep
from benchmarks.typed_json import MessageError, from_json

DEFAULT_TIMEOUT = 300.0


def verdicts(wanted: Sequence[str], timeout: float = DEFAULT_TIMEOUT) -> dict[str, Verdict]:
    """Check the contracts of these names and return their verdicts by name.

    They run in a sandbox that is removed again. ``timeout``: seconds for each area; a contract that
    has not been checked by then is `failed`. Raises OSError if a process cannot start.
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
        ended = _run(box, report, left, max(1.0, deadline - time.monotonic()))
        lines = _read(report)
        found |= {line.name: line.verdict for line in lines if line.verdict is not None}
        if ended.timed_out:
            late = f"not checked: its area took longer than {timeout:g} s"
            found |= {name: _failed(name, late) for name in left if name not in found}
        elif any(name not in found for name in left):
            # The one that was being checked, or the first, is not tried again.
            begun = (line.name for line in reversed(lines) if line.name not in found)
            culprit = next(begun, None) or next(name for name in left if name not in found)
            found[culprit] = _failed(culprit, _reason(ended))
    return found


def _failed(name: str, detail: str) -> Verdict:
    return Verdict(name, "failed", detail, 0.0)


def _reason(ended: Exit) -> str:
    if ended.code < 0:
        return f"the process that checked it died of {signal.Signals(-ended.code).name}"
    last = ended.stderr[-1][:500] if ended.stderr else "it wrote nothing"
    return f"the process that was to check it left with exit code {ended.code}: {last}"


def _run(box: Sandbox, report: Path, names: Sequence[str], timeout: float) -> Exit:
    command = ("benchmarks.contracts.child", str(report), *names)
    env = box.environment(new_seed(), None)
    output = report.with_suffix(".stderr")
    return process.supervise(command, box.work, env, output, timeout, role="contracts")


def _read(report: Path) -> list[Progress]:
    """Every whole line of a report; the last line may be cut off."""
    lines = []
    with contextlib.suppress(OSError):
        for line in report.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(MessageError):
                lines.append(from_json(Progress, line))
    return lines
