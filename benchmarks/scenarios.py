"""What the measured process builds in each scenario, and the report of it."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks import backends, sampling
from benchmarks.bench import Bench
from benchmarks.catalogue import MODELS, SCENARIOS, Measure
from benchmarks.environment import describe
from benchmarks.messages import Job, Report, Role, Spent, Step
from benchmarks.probes.process import can_trace, peak_rss

_REPEATS = 15
_REPEAT_SECONDS = 0.05
_COUNTED_CALLS = 100


def measure(
    job: Job, first_line: float, import_seconds: Mapping[str, float], fresh_import: bool
) -> Report:
    """Do a job and return its report: metrics, steps, checks, ledger and environment.

    ``first_line``: `time.monotonic()` when the process began. ``import_seconds``: by package;
    ``fresh_import``: this process imported them itself, so that they give `import_time`. Raises
    whatever the subject raises, except in the roles that build many graphs.
    """
    cell = job.cell
    reason = backends.problem(cell.backend) or _pass_problem(job.measure)
    model = MODELS[cell.model]
    for package in model.packages:
        if reason is None and package not in sys.modules:
            reason = f"{package} is not installed in this environment"
    if reason is not None:
        return Report("unavailable", reason, environment=describe(job.data))
    bench = Bench(
        model.build(job.data),
        cell.backend,
        cell.launch,
        backends.mode(cell.backend),
        job.measure,
        probed=job.role != "fill" and job.measure == "counting",
    )
    if bench.probed:
        backends.install_probes(bench.backend, bench.ledger)
    _ROLES[job.role](bench, job)
    if job.measure == "counting":
        bench.metrics["compiler_runs"] = bench.ledger.compiler_runs
        bench.metrics["bootstrap_runs"] = bench.ledger.bootstrap_runs
    if job.measure == "timing" and fresh_import:
        bench.metrics["import_time"] = import_seconds["pytensor"] + import_seconds["numba"]
    if job.measure == "timing" and (rss := peak_rss()) is not None:
        bench.metrics["peak_rss"] = rss
    return Report(
        status="raised" if bench.raised else "ok",
        message="; ".join(bench.raised) or None,
        metrics=bench.metrics,
        steps=tuple(bench.steps),
        checks=tuple(bench.checks),
        values=bench.values,
        ledger=tuple(bench.ledger.entries) if job.measure == "counting" else None,
        environment=describe(job.data),
        profile=bench.profile(),
        spent=Spent(
            first_line=first_line,
            reported=time.monotonic(),
            imports=sum(import_seconds.values()),
            build=bench.build_seconds,
            warm_up=bench.warm_up_seconds,
            measured=bench.measured_seconds,
        ),
    )


def _pass_problem(measure: Measure) -> str | None:
    if measure == "tracing" and not can_trace():
        return "counting Python calls needs sys.monitoring, which came with Python 3.12"
    return None


def _measure(bench: Bench, job: Job) -> None:
    _FAMILIES[SCENARIOS[job.cell.scenario].family](bench, job)


def _build(bench: Bench, job: Job) -> None:
    for _ in range(SCENARIOS[job.cell.scenario].warm_ups):
        bench.warm_up("first build")
    bench.metrics.update(bench.measured_build("build"))


def _sampling(bench: Bench, _job: Job) -> None:
    sampling.sample(bench)


def _variants(bench: Bench, job: Job) -> None:
    """The base from empty, then the variants; the metrics are the sums over the variants."""
    base = bench.measured_build("base")
    bench.forget_profile()
    bench.steps.append(Step("base", base))
    bench.ledger.compiler_runs = bench.ledger.bootstrap_runs = 0
    for name in job.members:
        found = bench.measured_build(name, name)
        bench.steps.append(Step(name, found))
        bench.add_metrics(found)


def _call(bench: Bench, _job: Job) -> None:
    """Evaluate again and again. In the counting pass the probes see that nothing is compiled."""
    graph = bench.graph()
    begin = time.perf_counter()
    function = graph.compile(bench.mode)
    value = function(graph.point)
    bench.warm_up_seconds += time.perf_counter() - begin
    bench.ledger.step = "calls"
    if bench.measure == "counting":
        with bench.recording():
            for _ in range(_COUNTED_CALLS):
                value = function(graph.point)
        bench.metrics.update(bench.ledger.counts())
    else:
        begin = time.perf_counter()
        bench.metrics["call_time"] = seconds_a_call(function, graph.point)
        bench.measured_seconds += time.perf_counter() - begin
        value = function(graph.point)
    bench.check("calls", graph, value)


def seconds_a_call(function: Callable[..., Any], point: Any) -> float:
    """Return the seconds of one call: the smallest of 15 means, each over about 50 ms of calls.

    Other work on the machine makes a mean larger and never smaller. A cost that only some calls
    have is in every mean.
    """
    number = 1
    while True:
        begin = time.perf_counter()
        for _ in range(number):
            function(point)
        elapsed = time.perf_counter() - begin
        if elapsed >= _REPEAT_SECONDS / 4:
            break
        number *= 4
    number = max(1, round(number * _REPEAT_SECONDS / elapsed))
    seconds = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        for _ in range(number):
            function(point)
        seconds.append((time.perf_counter() - begin) / number)
    return min(seconds)


def _fill(bench: Bench, job: Job) -> None:
    if SCENARIOS[job.cell.scenario].family == "sampling":
        _sampling(bench, job)
    else:
        bench.warm_up("fill")


def _sibling(bench: Bench, job: Job) -> None:
    """Build one member into the cache that the siblings share."""
    for name in job.members:
        bench.steps.append(Step(name, bench.measured_build(name, name)))


def _reader(bench: Bench, job: Job) -> None:
    """Build every member from what the siblings left."""
    for name in job.members:
        _build_one_of_many(bench, name, name)


def _upgrade(bench: Bench, job: Job) -> None:
    """Build every graph, whatever the cache holds.

    A graph that raises with an empty cache is one that this subject cannot build: it is no failure,
    and the second process does not build it.
    """
    for member in job.members:
        name = f"fresh {member}" if job.from_empty else member
        if _build_one_of_many(bench, name, member):
            bench.values[member] = _flat(bench.last)
    if job.from_empty and bench.values:
        bench.raised.clear()


def _build_one_of_many(bench: Bench, name: str, member: str) -> bool:
    """Build one graph and add its metrics; if it raises, note that and return False."""
    try:
        found = bench.measured_build(name, member)
    except Exception as error:
        traceback.print_exc()
        bench.raised.append(f"{name}: {type(error).__name__}: {error}"[:500])
        return False
    bench.steps.append(Step(name, found))
    bench.add_metrics(found)
    return True


def _flat(value: Any) -> tuple[float | None, ...]:
    arrays = value if isinstance(value, list | tuple) else [value]
    numbers = np.concatenate([np.ravel(np.asarray(each, dtype=float)) for each in arrays])
    return tuple(float(number) if np.isfinite(number) else None for number in numbers)


_FAMILIES: dict[str, Callable[[Bench, Job], None]] = {
    "build": _build,
    "variants": _variants,
    "sampling": _sampling,
    "call": _call,
}
"""What is measured in the scenarios of a family; siblings and upgrades have roles of their own."""
_ROLES: dict[Role, Callable[[Bench, Job], None]] = {
    "measure": _measure,
    "fill": _fill,
    "siblings": _sibling,
    "reader": _reader,
    "upgrade": _upgrade,
}
