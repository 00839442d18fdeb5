"""What the observatory says of a numba before anybody proposes it: three commands, three verdicts.

Each is a process of its own with a time limit. Its exit status is the verdict; what it prints
goes to standard error, where whoever waits can follow it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Protocol

from packaging.version import Version

from observatory.errors import Exit
from observatory.text.comment import LIMIT, MARKER

ROOT = Path(__file__).resolve().parents[2]
_RESULTS = ROOT / ".observatory" / "numba-bound"
"""Away from the results that are kept in git: a numba that is judged once has no history."""
_GRACE = 20.0
"""Seconds in which a command that is ended can end its own processes and record what it has."""


class Finding(IntEnum):
    """What a judge says; the worst of several is the greatest."""

    GOOD = 0
    OPEN = 1
    BAD = 2


@dataclass(frozen=True)
class Verdict:
    """What one command found, as half a sentence."""

    command: str
    finding: Finding
    said: str


@dataclass(frozen=True)
class Judged:
    """All verdicts on a numba, and the comment of the comparison ("" where there is none)."""

    subject: str
    new: Version
    old: Version | None
    verdicts: tuple[Verdict, ...]
    comment: str

    @property
    def finding(self) -> Finding:
        """The worst of them."""
        return max(verdict.finding for verdict in self.verdicts)


class Runner(Protocol):
    """Whatever runs a command: a process, or a fake in tests."""

    def __call__(self, command: Sequence[str], limit: float) -> int | None:
        """Its exit status; None if it had to be ended after ``limit`` seconds."""
        ...


_TABLES: Mapping[str, Mapping[int, tuple[Finding, str]]] = {
    "contracts": {
        Exit.OK: (Finding.GOOD, "what PyTensor relies on in numba holds"),
        Exit.CONTRACTS: (Finding.BAD, "something of numba that PyTensor relies on is broken"),
    },
    "canary": {
        Exit.OK: (Finding.GOOD, "every process that shared a cache returned right numbers"),
        Exit.WRONG_RESULTS: (Finding.BAD, "processes that shared a cache returned wrong numbers"),
        Exit.SAMPLE_FAILED: (Finding.BAD, "a process that shared a cache crashed"),
        Exit.SYMBOLS: (Finding.BAD, "functions of one cache share a symbol"),
    },
    "compare": {
        Exit.OK: (Finding.GOOD, "nothing is worse than with the old numba"),
        Exit.WRONG_RESULTS: (Finding.BAD, "it returns wrong numbers where the old numba does not"),
        Exit.WORSE: (Finding.BAD, "something is worse than with the old numba"),
        Exit.UNDECIDED: (Finding.OPEN, "nothing is worse, but not every cell could be judged"),
    },
}
_OTHERS: Mapping[int, tuple[Finding, str]] = {
    Exit.UNDECIDED: (Finding.OPEN, "it could not judge"),
    Exit.ENVIRONMENT: (
        Finding.OPEN,
        "no environment with this numba could be made; the subject's own bound may forbid it",
    ),
}


@dataclass(frozen=True)
class Bench:
    """How the judges are asked: the PyTensor, the tool's command, who runs it, seconds for each."""

    subject: str
    tool: tuple[str, ...]
    runner: Runner
    limit: float

    def judge(self, new: Version, old: Version | None) -> Judged:
        """Ask all three; a comparison is made where there is an older numba to compare with."""
        old = None if old == new else old
        verdicts = [self._alone("contracts", new, old), self._alone("canary", new, old)]
        if old is None:
            return Judged(self.subject, new, None, tuple(verdicts), "")
        with tempfile.TemporaryDirectory() as directory:
            written = Path(directory) / "comment.md"
            sides = self._with(old), self._with(new)
            verdicts.append(self._verdict("compare", *sides, "--markdown", str(written)))
            return Judged(self.subject, new, old, tuple(verdicts), _comment(written))

    def _alone(self, command: str, new: Version, old: Version | None) -> Verdict:
        """A verdict on one numba. What is as bad with the old one is not the new one's fault."""
        kept = "--results", str(_RESULTS)
        verdict = self._verdict(command, self._with(new), *kept)
        if verdict.finding is not Finding.BAD or old is None:
            return verdict
        if self._verdict(command, self._with(old), *kept) != verdict:
            return verdict
        return replace(
            verdict, finding=Finding.OPEN, said=f"{verdict.said}, and so it is with numba {old}"
        )

    def _with(self, numba: Version) -> str:
        return f"{self.subject} numba=={numba}"

    def _verdict(self, command: str, *args: str) -> Verdict:
        status = self.runner([*self.tool, command, *args], self.limit)
        if status is None:
            said = f"it was ended after {self.limit / 60:.0f} minutes"
            return Verdict(command, Finding.OPEN, said)
        if found := _TABLES[command].get(status) or _OTHERS.get(status):
            return Verdict(command, *found)
        ended = f"died of signal {-status}" if status < 0 else f"ended with status {status}"
        return Verdict(command, Finding.OPEN, f"it {ended}, which is no verdict")


def run(command: Sequence[str], limit: float) -> int | None:
    """Run a command from the observatory's checkout, where its calibration and environments are.

    Whatever ends this process ends the command with all that it started.
    """
    try:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=2, start_new_session=True
        )
    except OSError as error:
        print(f"{command[0]} cannot be started: {error}", file=sys.stderr)
        return Exit.ENVIRONMENT
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    with suppress(ProcessLookupError):  # also what a process that went by itself left behind
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _comment(path: Path) -> str:
    """The comment without its marker, by which a comment of its own would be found."""
    try:
        content = path.read_bytes()
    except OSError:
        return ""
    text = content[: 4 * LIMIT].decode(errors="replace")
    return text.removeprefix(MARKER).strip() if text.startswith(MARKER) else ""
