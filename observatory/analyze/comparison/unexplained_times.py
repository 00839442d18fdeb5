"""Why a time grew where no work did: the process waits, or the same work takes longer. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from observatory.analyze.comparison.evidence import Evidence
from observatory.benchmarks.catalogue import METRICS
from observatory.store.records.comparison import CauseKind, Conclusion, Verdict

CALM: tuple[Conclusion, ...] = ("better", "unaffected", "workload changed")
"""The conclusions on work that explain no longer time."""
WAITS: CauseKind = "waits and does not work"
SLOWER: CauseKind = "slower with the same work"
_CPU_OF = {"call_time": "call_cpu_time"}
"""The CPU time of a time; of all others `cpu_time`."""
_WORKED = 0.5
"""The share of the additional time from which on it was spent in work: in CPU time."""
_IDLE = 0.1
"""The share of the additional time up to which CPU time says nothing against a wait."""


def why_longer(
    verdict: Verdict, base: Evidence, head: Evidence, work: Mapping[str, Conclusion]
) -> tuple[CauseKind, bool] | None:
    """Why a time grew, if no work explains it, and whether that is all of it.

    ``work``: the conclusions on what was counted.

    The CPU time, which counts that of compilers as well, tells a wait from work that takes longer:
    without it, nobody knows. Only instructions say that it is the same work: Python calls leave out
    what machine code does. Where it is known how long a build waited, one that waited for a CPU or
    a compiler alone has no cause: that says something of the machine only.
    """
    if not work or any(conclusion not in CALM for conclusion in work.values()):
        return None
    cpu = METRICS[_CPU_OF.get(verdict.metric, "cpu_time")]
    before, after = (side.values(verdict.cell, cpu).values for side in (base, head))
    if not (before and after):  # as of calls in older samples
        return None
    grown = median(verdict.head.values) - median(verdict.base.values)
    worked = median(after) - median(before)
    if worked < _WORKED * grown:
        waited = _waited(verdict, base, head)
        only_queued = waited is not None and waited < _WORKED * grown
        return None if only_queued else (WAITS, worked <= _IDLE * grown)
    return (SLOWER, True) if "instructions" in work else None


def _waited(verdict: Verdict, base: Evidence, head: Evidence) -> float | None:
    """The seconds for which a build waited longer; None of calls, or if it is not known."""
    if verdict.metric != "compile_time":
        return None
    before, after = (
        side.values(verdict.cell, METRICS["waiting_time"]).values for side in (base, head)
    )
    return median(after) - median(before) if before and after else None
