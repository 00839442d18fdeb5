"""Many graphs in one sample, each built in a fork of its own: one that dies costs no other.

This runs in the primitive, which puts the reports of the forks together.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from . import process
from .catalogue import MODELS, SCENARIOS
from .catalogue.scenario import FORKS_LIMITS
from .messages import Job, Report, Role, Spent, Step
from .models import Size
from .process import Ending
from .sandbox import Sandbox

RAISED = ("raised", "died")
"""The statuses of a graph that count as `graphs_raised`."""
BY_GRAPH = ("wrong_results", "graphs_raised")
"""The metrics that every graph has that the release has, also one that raises."""


def role_of(job_role: Role, scenario: str) -> Role:
    """Return the role of a process that would have ``job_role`` if it built one graph."""
    return "each" if SCENARIOS[scenario].apart else job_role


def run(
    box: Sandbox,
    job: Job,
    env: Mapping[str, str],
    timeout: float,
    interpreter: Sequence[str] = (sys.executable,),
) -> Ending:
    """Run a job like `benchmarks.process.run`; put the reports of its forks together, if it forks.

    Where it forks, the limit of all graphs together is `FORKS_LIMITS` times ``timeout``, and that
    of one graph a fifth of it. Raises OSError if the process cannot start.
    """
    if job.role == "each":
        emptied = box.cache if SCENARIOS[job.cell.scenario].emptied else None
        job = replace(job, limit=timeout / 5, emptied=emptied)
        timeout *= FORKS_LIMITS
    parent = process.run(box, job, dict(env), timeout, interpreter=interpreter)
    if job.role != "each" or parent.exit.timed_out or parent.exit.code != 0:
        return parent
    forks = {
        each.members[0]: process.ending_of_fork(parent, each.report) for each in job.for_members()
    }
    return _put_together(parent, forks, MODELS[job.cell.model].sizes)


def _put_together(parent: Ending, forks: Mapping[str, Ending], sizes: Mapping[str, Size]) -> Ending:
    """The parent's ending, with the reports of all forks as one."""
    reports = [fork.report for fork in forks.values() if fork.report is not None]
    unavailable = [report for report in reports if report.status == "unavailable"]
    if unavailable:  # what one fork lacks, all of them lack
        first = unavailable[0]
        return replace(parent, report=first, status="unavailable", message=first.message)
    wrong = Counter(check.name for report in reports for check in report.checks if check.wrong)
    steps = [
        counted(replace(step, size=sizes.get(name)), wrong[step.name])
        for name, fork in forks.items()
        for step in _steps(name, fork)
    ]
    metrics: Counter[str] = Counter()
    for report in reports:
        metrics.update(report.metrics)
    metrics.update(totals(steps, BY_GRAPH))
    ledgers = [report.ledger for report in reports if report.ledger is not None]
    report = Report(
        status="ok",
        metrics=dict(metrics),
        steps=tuple(steps),
        checks=tuple(check for report in reports for check in report.checks),
        ledger=tuple(entry for ledger in ledgers for entry in ledger) if ledgers else None,
        environment=next((one.environment for one in reports if one.environment), {}),
        spent=_spent(reports),
        suspects=tuple(name for report in reports for name in report.suspects),
        ops=tuple(sorted({op for report in reports for op in report.ops})),
    )
    return replace(parent, report=report, status="ok", message=None)


def totals(steps: Iterable[Step], names: Iterable[str]) -> dict[str, float]:
    """Return the sums of some metrics over all graphs."""
    known = list(steps)
    return {name: sum(step.metrics.get(name, 0) for step in known) for name in names}


def counted(step: Step, wrong: int) -> Step:
    """Return a step with what is counted of every graph that the release has."""
    if step.status == "absent":
        return step
    counts = dict(zip(BY_GRAPH, (wrong, int(step.status in RAISED)), strict=True))
    return replace(step, metrics={**step.metrics, **counts})


def _steps(name: str, fork: Ending) -> tuple[Step, ...]:
    if fork.report is not None and fork.report.steps:
        return fork.report.steps
    return (Step(name, {}, "died", (fork.message or fork.status)[:500]),)


def _spent(reports: Sequence[Report]) -> Spent | None:
    spent = [report.spent for report in reports if report.spent is not None]
    if not spent:
        return None
    return replace(
        spent[0],
        reported=max(one.reported for one in spent),
        build=sum(one.build for one in spent),
        measured=sum(one.measured for one in spent),
    )
