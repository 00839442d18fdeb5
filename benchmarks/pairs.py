"""Pairs of graphs that share one cache: those that collide, and those whose keys are not stable.

This runs in the primitive, after `benchmarks.apart` has built the second graph of every pair, or
has compared the keys of both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from . import apart, fillers
from .catalogue import OF_PAIRS, SCENARIOS
from .messages import Report, Step
from .process import Ending
from .request import Request
from .sandbox import Sandbox

_OF_KEYS = "keys_missing"
"""The metric of a pair that only the comparison of keys counts."""
CLEARED = "its keys are suspect, but its second graph is right where the first filled the cache"
"""The note of a pair that was suspected without being wrong: rewrites can make its graphs one."""

MOST_SUSPECTS = 40
"""To build one takes a second or more. A fault of all keys makes hundreds of them."""
UNPROVEN = (
    f"its keys are suspect, as those of more than {MOST_SUSPECTS} pairs are: it was not built"
)
"""The note of a suspect beyond those."""


def proven(request: Request, box: Sandbox, seed: int, compared: Ending) -> Ending:
    """Return the ending of compared keys, with what became of the pairs whose keys are suspect.

    A suspect is built as the scenarios `of_pair` first and second do it, in a cache that only the
    suspects use, and counts only if it is wrong there: equal keys alone prove nothing. Of very many
    suspects only the first are built. Raises OSError if a process cannot start.
    """
    report = compared.report
    if compared.status != "ok" or report is None:
        return compared
    built = {}
    to_build, unproven = report.suspects[:MOST_SUSPECTS], report.suspects[MOST_SUSPECTS:]
    if to_build:
        ending = _built(request, box.within("suspects"), seed, to_build)
        if ending.status != "ok" or ending.report is None:
            return ending
        compared_steps = {step.name: step for step in report.steps}
        built = {
            step.name: _cleared(step, compared_steps[step.name]) for step in ending.report.steps
        }
        report = replace(report, checks=ending.report.checks)
    others = (step for step in report.steps if step.name not in built)
    marked = {**{step.name: step for step in _marked(others, set(), set())}, **built}
    marked |= {name: replace(marked[name], note=UNPROVEN) for name in unproven}
    steps = tuple(marked[step.name] for step in report.steps)
    return replace(compared, report=_with_totals(report, steps))


def _built(request: Request, box: Sandbox, seed: int, members: tuple[str, ...]) -> Ending:
    """Build the first graphs of some pairs, then the second ones; return how these were judged."""
    shared = request.cell.launch == "fork"
    seeds = {"first": seed, "second": seed if shared else next(fillers.seeds_from(seed))}
    for number, (of_pair, own_seed) in enumerate(seeds.items()):
        scenario = next(name for name, one in SCENARIOS.items() if one.of_pair == of_pair)
        asked = replace(request, cell=replace(request.cell, scenario=scenario))
        job = replace(asked.job(box, "each", number), members=members)
        env = box.environment(own_seed, asked.pytensor_flags, backend=asked.backend)
        ending = apart.run(box, job, env, asked.timeout)
        if ending.status != "ok":
            return ending
    return judged(asked, box, own_seed, ending)


def _cleared(step: Step, compared: Step) -> Step:
    """The built pair; its functions without keys were counted before."""
    missing = {name: count for name, count in compared.metrics.items() if name == _OF_KEYS}
    metrics = {**step.metrics, **missing}
    return replace(step, metrics=metrics, note=CLEARED if step.status == "ok" else step.note)


def judged(request: Request, box: Sandbox, seed: int, measured: Ending) -> Ending:
    """Return the ending with the metrics of pairs, and with what became of each of them.

    A graph that is wrong or raises is built once more with an empty cache of its own: where it is
    right there, it collided with another one. Of very many only the first are, and the others stay
    wrong. Raises OSError if a process cannot start.
    """
    report = measured.report
    if measured.status != "ok" or report is None:
        return measured
    equal = request.model.equal
    failed = {step.name for step in report.steps if step.status in apart.RAISED}
    suspects = failed | {check.name for check in report.checks if check.wrong}
    built_again = sorted(suspects)[:MOST_SUSPECTS]
    collided = {name for name in built_again if _right_alone(request, box, seed, name)}
    unstable = {
        step.name
        for step in report.steps
        if step.name in equal and step.metrics.get("cache_misses")
    }
    steps = tuple(_marked(report.steps, collided, unstable - collided))
    return replace(measured, report=_with_totals(report, steps))


def _with_totals(report: Report, steps: tuple[Step, ...]) -> Report:
    metrics = {**report.metrics, **apart.totals(steps, (*OF_PAIRS, *apart.BY_GRAPH))}
    return replace(report, steps=steps, metrics=metrics)


def _right_alone(request: Request, box: Sandbox, seed: int, name: str) -> bool:
    """Whether the second graph of a pair is right with an empty cache of its own."""
    alone = box.within(f"alone-{len(list(box.path.glob('alone-*')))}")
    job = replace(request.job(alone, "each"), members=(name,))
    env = alone.environment(seed, request.pytensor_flags, backend=request.backend)
    report: Report | None = apart.run(alone, job, env, request.timeout).report
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
