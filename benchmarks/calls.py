"""The time of one call of a compiled function."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

_REPEATS = 15
_SECONDS = 0.05


def seconds_a_call(
    call: Callable[[], Any], repeats: int = _REPEATS, seconds: float = _SECONDS
) -> float:
    """Return the seconds of one call: the smallest of several means.

    Each of ``repeats`` means is over about ``seconds`` of calls.

    Other work on the machine can only make a mean larger. A cost that only some calls have is in
    every mean.
    """

    def seconds_of(calls: int) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return time.perf_counter() - begin

    calls = 1
    while (elapsed := seconds_of(calls)) < seconds / 4:
        calls *= 4
    calls = max(1, round(calls * seconds / elapsed))
    return min(seconds_of(calls) / calls for _ in range(repeats))
