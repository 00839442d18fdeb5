"""Pairs of graphs that share one cache: those that collide, and those whose keys are not stable.

This runs in the primitive, after `benchmarks.apart` has built the second graph of every pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from benchmarks import apart
from benchmarks.catalogue import OF_PAIRS
from benchmarks.messages import Report, Step
from benchmarks.process import Ending
from benchmarks.request import Request
from benchmarks.sandbox import Sandbox


def judged(request: Request, box: Sandbox, seed: int, measured: Ending) -> Ending:
    """Return the ending with the metrics of pairs, and with what became of each of them.

    A graph that is wrong or raises is built once more with an empty cache of its own: where it is
    right there, it collided with another one. Raises OSError if a process cannot start.
    """
    report = measured.report
    if measured.status != "ok" or report is None:
        return measured
    equal = request.model.equal
    failed = {step.name for step in report.steps if step.status in apart.RAISED}
    suspects = failed | {check.name for check in report.checks if check.wrong}
    collided = {name for name in sorted(suspects) if _right_alone(request, box, seed, name)}
    unstable = {
        step.name
        for step in report.steps
        if step.name in equal and step.metrics.get("cache_misses")
    }
    steps = tuple(_marked(report.steps, collided, unstable - collided))
    metrics = {**report.metrics, **apart.totals(steps, (*OF_PAIRS, *apart.BY_GRAPH))}
    return replace(measured, report=replace(report, steps=steps, metrics=metrics))


def _right_alone(request: Request, box: Sandbox, seed: int, name: str) -> bool:
    """Whether the second graph of a pair is right with an empty cache of its own."""
    number = len(list(box.path.glob("alone-*")))
    job = replace(request.job(box, "each", 2 + number), members=(name,))
    env = box.with_empty_cache(f"alone-{number}").environment(seed, request.pytensor_flags)
    report: Report | None = apart.run(box, job, env, request.timeout).report
    return (
        report is not None
        and all(step.status == "ok" for step in report.steps)
        and bool(report.checks)
        and not any(check.wrong for check in report.checks)
    )


def _marked(steps: Iterable[Step], collided: set[str], unstable: set[str]) -> Iterable[Step]:
    """The steps with the metrics of pairs. A collision is neither a wrong result nor a failure."""
    for step in steps:
        if step.status == "absent":
            yield step
            continue
        pairs = zip(OF_PAIRS, (step.name in collided, step.name in unstable), strict=True)
        metrics = {**step.metrics, **{name: int(holds) for name, holds in pairs}}
        if step.name in collided:
            why = step.note or "it returns another value than with a cache of its own"
            metrics |= dict.fromkeys(apart.BY_GRAPH, 0)
            yield replace(step, metrics=metrics, status="collided", note=why)
        elif step.name in unstable:
            misses = int(step.metrics["cache_misses"])
            missed = "1 function of" if misses == 1 else f"{misses} functions of"
            note = f"{missed} an equal graph not found in the cache"
            yield replace(step, metrics=metrics, status="unstable", note=note)
        else:
            yield replace(step, metrics=metrics)
