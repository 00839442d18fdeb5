"""What became of a process under a fault, compared with the same process without it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..messages import name_of_signal
from .making import VERDICTS, OutcomeRecord, Verdict, severest
from .workload import Seen

MORE_CALLS = 1.25
"""Times as many Python calls that make a process slower; without a fault they differ by 1 %."""
_SHOWN = 60


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    seen: Seen | None
    """What it reported; None if it could not."""
    code: int = 0
    """Its exit status, negative for the signal that ended it."""
    timed_out: bool = False


@dataclass(frozen=True)
class Case:
    """One step of a fault."""

    step: str
    verdict: Verdict
    after: Verdict
    detail: str
    left: int = 0
    """Paths in the cache afterwards, beyond those that are there without the fault."""
    warned: int = 0
    """Warnings of the processes that met the fault."""


def judge(ended: Ended, usual: Seen, limit: float) -> tuple[Verdict, str]:
    """Return the verdict on a process, and what it saw as half a sentence.

    ``usual``: what a process sees that does the same without a fault. ``limit``: the time limit in
    seconds, which only the text needs.
    """
    seen = ended.seen
    if ended.timed_out:
        return "hangs", f"it had not ended after {limit:g} s"
    if ended.code < 0:
        return "dies", f"it died of {name_of_signal(-ended.code)}"
    if seen is None:
        return "raises", f"it left with exit status {ended.code} and reported nothing"
    if seen.wrong:
        return "WRONG", seen.wrong
    if seen.raised:
        return "raises", seen.raised
    if seen.misses > usual.misses or seen.hits < usual.hits:
        return "recompiles", f"{seen.misses} missed where {usual.misses} do"
    if seen.compiled > usual.compiled:
        return "slower", f"{seen.compiled} were compiled where {usual.compiled} are"
    if seen.calls and usual.calls and seen.calls > usual.calls * MORE_CALLS:
        return "slower", f"{seen.calls / usual.calls:.1f} times as many Python calls"
    return "safe", ""


def judge_several(
    ended: Sequence[Ended], usual: Sequence[Seen], limit: float, *, once: bool = False
) -> tuple[Verdict, str]:
    """Return the worst verdict on processes that ran beside each other, as `judge` does.

    ``usual``: what each sees that runs alone. ``once``: whether they may compile no more together
    than one of them alone. Python calls do not count: one that waits for a lock asks for it again
    and again, the longer the busier the machine is.
    """
    uncounted = [replace(one, calls=None) for one in usual]
    worst = max(
        (judge(*one, limit) for one in zip(ended, uncounted, strict=True)),
        key=lambda one: VERDICTS.index(one[0]),
    )
    missed = sum(one.seen.misses for one in ended if one.seen)
    if once and worst[0] == "safe" and missed > usual[0].misses:
        return (
            "recompiles",
            f"together they compiled {missed} modules; one alone compiles {usual[0].misses}",
        )
    return worst


def or_failure(judged: tuple[Verdict, str], failed: str) -> tuple[Verdict, str]:
    """The verdict on a process after a command, which is `raises` if the command failed.

    ``failed``: why the command failed; empty if it did not. A worse verdict stays.
    """
    if not failed or VERDICTS.index(judged[0]) > VERDICTS.index("raises"):
        return judged
    return "raises", failed


def warnings_of(ended: Iterable[Ended]) -> int:
    """How many warnings some processes gave or logged, of those that could report them."""
    return sum(one.seen.warned for one in ended if one.seen)


def grouped(cases: Iterable[Case]) -> tuple[OutcomeRecord, ...]:
    """The cases that came out alike as one outcome each, the worst first."""
    found: dict[tuple[Verdict, Verdict, str], list[Case]] = {}
    for case in cases:
        # One exception is one outcome, whatever numbers and names its text contains.
        found.setdefault((case.verdict, case.after, _kind(case.detail)), []).append(case)
    outcomes = [
        OutcomeRecord(
            verdict, after, own[0].detail, len(own), _steps([one.step for one in own]),
            max(one.left for one in own), max(one.warned for one in own),
        )
        for (verdict, after, _), own in found.items()
    ]  # fmt: skip
    return tuple(sorted(outcomes, key=_rank))


def _rank(one: OutcomeRecord) -> tuple[int, int]:
    return -VERDICTS.index(one.verdict), -VERDICTS.index(one.after)


def _kind(detail: str) -> str:
    return detail.partition(":")[0][:_SHOWN]


def _steps(steps: list[str]) -> str:
    named = [step for step in steps if step]
    if len(named) <= 2:
        return ", ".join(named)
    return f"{named[0]} ... {named[-1]}"


def worst(cases: Iterable[Case]) -> tuple[Verdict, Verdict]:
    """The worst verdict of all cases, and the worst one of the processes after them."""
    cases = list(cases)
    return severest(one.verdict for one in cases), severest(one.after for one in cases)
