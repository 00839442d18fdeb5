"""The smaller vocabularies: start methods, passes, outcomes and statuses, each with its meaning."""

from __future__ import annotations

from typing import Literal

Kind = Literal["exact", "near_exact", "noisy"]
Measure = Literal["timing", "counting", "tracing"]

LAUNCHES = {
    "fork": "a parent imports pytensor and numba, builds nothing, forks once; the child measures",
    "spawn": "a fresh interpreter with a hash seed of its own",
    "forkserver": "a server that has imported nothing forks each sibling: one hash seed for all",
}
"""Start methods. asv's parameter and stored data call one a launch."""
MEASURES: dict[Measure, str] = {
    "timing": "clocks only: no probe is installed",
    "counting": "probes on the caches and compilers: ledger and exact counts, no times",
    "tracing": "counts the Python functions entered (sys.monitoring, Python >= 3.12)",
}
"""Passes."""
OUTCOMES = {
    "hit": "a disk cache returned it",
    "miss": "it asked a disk cache, was compiled and stored",
    "uncacheable": "a cache refused to store it",
    "internal": "compiled without ever asking a cache",
}
STATUSES = {
    "ok": "measured",
    "unavailable": "this subject cannot give the cell; the reason says why",
    "raised": "the measured process raised an exception",
    "killed": "the measured process died of a signal",
    "timeout": "the measured process was ended after its time limit",
}
SAMPLE_SCHEMA = "observatory/sample/1"
"""Name and version of the record that one sample prints; published in docs/schemas/."""
