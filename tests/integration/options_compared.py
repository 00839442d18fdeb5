"""Compare two equal sets of numba's options, and nothing else.

It runs in the environment under test and prints how many Python functions each counter says that
this enters, and how many `sys.setprofile` sees.
"""

from __future__ import annotations

import json
import sys
from types import FrameType

from numba.core.compiler import Flags

from benchmarks.probes.entries import EntryCounter
from benchmarks.probes.profile import Tracer


def compared(first: Flags, second: Flags) -> None:
    assert first == second


found: dict[str, int] = {}
for counter in (Tracer(), EntryCounter()):
    counts: list[int] = []
    with counter.counting_calls(counts):
        compared(Flags(), Flags())
    found[type(counter).__name__] = counts[0]
seen = 0


def profiler(frame: FrameType, event: str, _: object) -> None:
    global seen
    seen += event == "call"


sys.setprofile(profiler)
compared(Flags(), Flags())
sys.setprofile(None)
print(json.dumps({**found, "all": seen}))
