"""The time of one call of a compiled function, and its CPU time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

_REPEATS = 15
_SECONDS = 0.05


class Seconds(NamedTuple):
    """Seconds of one call."""

    elapsed: float
    cpu: float
    """CPU time of this process, all threads."""


def seconds_a_call(
    call: Callable[[], Any], repeats: int = _REPEATS, seconds: float = _SECONDS
) -> Seconds:
    """Return the seconds of one call: of either kind the smallest of several means.

    Each of ``repeats`` means is over about ``seconds`` of calls.

    Other work on the machine can only make a mean larger. A cost that only some calls have is in
    every mean.
    """

    def seconds_of(calls: int) -> Seconds:
        cpu, begin = time.process_time(), time.perf_counter()
        for _ in range(calls):
            call()
        return Seconds(time.perf_counter() - begin, time.process_time() - cpu)

    calls = 1
    while (elapsed := seconds_of(calls).elapsed) < seconds / 4:
        calls *= 4
    calls = max(1, round(calls * seconds / elapsed))
    means = [seconds_of(calls) for _ in range(repeats)]
    return Seconds(*(min(mean) / calls for mean in zip(*means, strict=True)))
