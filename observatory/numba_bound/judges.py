"""The verdict of the observatory on a numba: three commands, each with a time limit.

The exit status of a command is its verdict. Its output goes to standard error, where people can
follow it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path

from packaging.version import Version

from observatory.errors import Exit
from observatory.store.base.scratch import temporary
from observatory.store.records import contracts
from observatory.text.comment import LIMIT, MARKER

ROOT = Path(__file__).resolve().parents[2]
_RESULTS = ROOT / ".observatory" / "numba-bound"
"""Apart from the results in git: a numba that is judged once has no history."""
_GRACE = 20.0
"""Seconds in which a command can end its own processes and record its samples."""


class Finding(IntEnum):
    """The result of a judge; of several, the greatest is the worst."""

    GOOD = 0
    OPEN = 1
    BAD = 2


@dataclass(frozen=True)
class Verdict:
    """The finding of one command, and a clause that explains it."""

    command: str
    finding: Finding
    sentence: str

    def __str__(self) -> str:
        return f"{self.command}: {self.finding.name.lower()}: {self.sentence}"


@dataclass(frozen=True)
class Judged:
    """All verdicts on a numba, and the comment of the comparison ("" if there is none)."""

    subject: str
    new: Version
    old: Version | None
    verdicts: tuple[Verdict, ...]
    comment: str

    @property
    def finding(self) -> Finding:
        """The worst finding."""
        return max(verdict.finding for verdict in self.verdicts)


Runner = Callable[[Sequence[str], float], int | None]
"""Runs a command; returns its exit status, or None if it was ended after a number of seconds."""

_GOOD: Mapping[str, str] = {
    "contracts": "numba does everything that PyTensor relies on",
    "canary": "all processes that shared a cache returned right numbers",
    "compare": "nothing is worse than with the old numba",
}
_BAD: Mapping[tuple[str, int], str] = {
    ("contracts", Exit.CONTRACTS): "numba breaks something PyTensor relies on",
    ("canary", Exit.WRONG_RESULTS): "processes that shared a cache returned wrong numbers",
    ("canary", Exit.SAMPLE_FAILED): "a process that shared a cache crashed",
    ("canary", Exit.SYMBOLS): "functions of one cache share a symbol",
    ("compare", Exit.WRONG_RESULTS): "it returns wrong numbers where the old numba does not",
    ("compare", Exit.WORSE): "something is worse than with the old numba",
}
_OPEN: Mapping[int, str] = {
    Exit.UNDECIDED: "nothing is bad, but it could not judge everything",
    Exit.ENVIRONMENT: "no environment with this numba could be made; the subject's own bound may "
    "forbid it",
}


@dataclass(frozen=True)
class Bench:
    """How to ask the judges: the PyTensor, the observatory's command, who runs it, and seconds."""

    subject: str
    tool: tuple[str, ...]
    runner: Runner
    limit: float

    def judge(self, new: Version, old: Version | None) -> Judged:
        """Ask all three; there is a comparison only if there is another numba to compare with."""
        old = None if old == new else old
        verdicts = [self._without_base("contracts", new, old)]
        verdicts.append(self._without_base("canary", new, old))
        if old is None:
            return Judged(self.subject, new, None, tuple(verdicts), "")
        with temporary("observatory-bound-") as directory:
            comment = Path(directory) / "comment.md"
            sides = self._with(old), self._with(new)
            verdicts.append(self._verdict("compare", *sides, "--markdown", str(comment)))
            return Judged(self.subject, new, old, tuple(verdicts), _comment(comment))

    def _without_base(self, command: str, new: Version, old: Version | None) -> Verdict:
        """A verdict on one numba. If the old one is as bad, the new one is not to blame."""
        results = "--results", str(_RESULTS)
        verdict = self._verdict(command, self._with(new), *results)
        if verdict.finding is not Finding.BAD or old is None:
            return verdict
        if self._verdict(command, self._with(old), *results) != verdict:
            return verdict
        if more := _broken_more(new, old) if command == "contracts" else ():
            sentence = f"{verdict.sentence}, with numba {old} only in part: {'; '.join(more[:3])}"
            return replace(verdict, sentence=sentence)
        sentence = f"{verdict.sentence}, as with numba {old}"
        return replace(verdict, finding=Finding.OPEN, sentence=sentence)

    def _with(self, numba: Version) -> str:
        return f"{self.subject} numba=={numba}"

    def _verdict(self, command: str, *args: str) -> Verdict:
        status = self.runner([*self.tool, command, *args], self.limit)
        if status is None:
            sentence = f"it was ended after {self.limit / 60:.0f} minutes"
        elif status == Exit.OK:
            return Verdict(command, Finding.GOOD, _GOOD[command])
        elif sentence := _BAD.get((command, status), ""):
            return Verdict(command, Finding.BAD, sentence)
        elif status < 0:
            sentence = f"it died of signal {-status}, which is not a verdict"
        else:
            sentence = _OPEN.get(status, f"it ended with status {status}, which is not a verdict")
        return Verdict(command, Finding.OPEN, sentence)


def run(command: Sequence[str], limit: float) -> int | None:
    """Run a command in the observatory's checkout, which has its calibration and environments.

    Returns as `Runner` does. If this process is interrupted, the command and all processes that it
    started end too.
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
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
            with suppress(ProcessLookupError):  # also the processes that it left behind
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _broken_more(new: Version, old: Version) -> list[str]:
    """The contracts that the new numba breaks and the old one does not, as far as is recorded."""
    broken: dict[str, dict[str, str]] = {}
    for one in contracts.FILES.readable(_RESULTS):
        found = {f"{each.area} {each.name}": each.holds for each in one.of("broken")}
        broken.setdefault(one.numba, {}).update(found)
    new_ones, old_ones = broken.get(str(new), {}), broken.get(str(old), {})
    return [holds for name, holds in new_ones.items() if name not in old_ones]


def _comment(path: Path) -> str:
    """The comment without its marker: with it, the comment would be taken for a published one."""
    text = path.read_text(errors="replace")[: 4 * LIMIT] if path.is_file() else ""
    return text.removeprefix(MARKER).strip() if text.startswith(MARKER) else ""
