"""What the measured process builds in each scenario, and its report."""

from __future__ import annotations

import gc
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from . import backends, each, sampling
from .bench import Bench
from .calls import seconds_a_call
from .catalogue import BACKENDS, MODELS, SCENARIOS, Measure
from .environment import describe, find_blas
from .messages import Job, Report, Role, Spent, Step
from .models.parts import frozen_nodes
from .probes import key_cost, numba_keys
from .probes.entries import EntryCounter
from .probes.instructions import count_calls
from .probes.process import can_trace, peak_rss
from .probes.profile import Tracer
from .raised import message_of

_COUNTED_CALLS = 1000
_COUNTS_WORK: tuple[Measure, ...] = ("tracing", "work")
_NO_MONITORING = "counting Python calls needs sys.monitoring, which came with Python 3.12"


def measure(
    job: Job, first_line: float, import_seconds: Mapping[str, float], fresh_import: bool
) -> Report:
    """Do a job and return its report: metrics, steps, checks, ledger and environment.

    ``first_line``: `time.monotonic()` when the process began. ``import_seconds``: by package;
    ``fresh_import``: this process imported them itself, so that they give `import_time`. Raises
    what the subject raises, except in the roles that build many graphs.
    """
    cell = job.cell
    reason = job.problem or backends.problem(cell.backend) or _problem(job)
    model = MODELS[cell.model].described_by(job.graphs)
    needed = tuple(filter(None, (BACKENDS[cell.backend].package,)))
    for package in model.packages:
        if reason is None and package not in sys.modules:
            reason = f"{package} is not installed in this environment"
    if reason is not None:
        facts = describe(job.data, needed, links=cell.links_blas)
        return Report("unavailable", reason, environment=facts)
    bench = Bench(
        model.build(job.data),
        cell.backend,
        cell.launch,
        backends.mode(cell.backend),
        job.measure,
        probed=job.role != "fill" and job.measure == "counting",
        weighed=job.role != "each",
        counter=job.counter,
        # Nobody keeps the profiles of forks.
        tracer=EntryCounter() if job.role == "each" else Tracer(),
    )
    if bench.probed:
        backends.install_probes(bench.backend, bench.ledger)
    if job.measure in _COUNTS_WORK and cell.links_blas:
        find_blas()
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
        environment=describe(job.data, needed, links=cell.links_blas),
        profile=bench.profile(),
        suspects=tuple(bench.suspects),
        ops=tuple(sorted(bench.ops)),
        effects=tuple(sorted(bench.effects)),
        spent=Spent(
            first_line=first_line,
            reported=time.monotonic(),
            imports=sum(import_seconds.values()),
            build=bench.build_seconds,
            warm_up=bench.warm_up_seconds,
            measured=bench.measured_seconds,
        ),
    )


def _problem(job: Job) -> str | None:
    """Why this subject cannot give the cell of a job in its pass, as a sentence; None if it can."""
    scenario = SCENARIOS[job.cell.scenario]
    counts_calls = scenario.family in ("key_making", "freezing") and job.measure == "counting"
    if (counts_calls or job.measure == "tracing") and not can_trace():
        return _NO_MONITORING
    if scenario.of_pair == "keys":
        return numba_keys.problem()
    problems = {"key_making": key_cost.problem, "freezing": frozen_nodes.problem}
    return problems[scenario.family]() if scenario.family in problems else None


def prepare_forks(job: Job) -> None:
    """Do once what every fork of this process would do before and after it builds its one graph."""
    MODELS[job.cell.model].described_by(job.graphs).build(job.data)
    for name in BACKENDS[job.cell.backend].probes:
        probe = import_module(f".probes.{name}", __package__)
        if find_spec(probe.PACKAGE) is not None:
            import_module(probe.LOOKS_AT)
    for name in ("linalg", "sparse", "special", "stats"):  # of the references
        import_module(f"scipy.{name}")
    describe(job.data, links=job.cell.links_blas)  # it runs the compiler
    backends.warm_up(job.cell.backend)
    gc.collect()
    gc.freeze()  # a collection of a fork need not look at what all of them share


def _measure(bench: Bench, job: Job) -> None:
    _FAMILIES[SCENARIOS[job.cell.scenario].family](bench, job)


def _build(bench: Bench, job: Job) -> None:
    for _ in range(SCENARIOS[job.cell.scenario].warm_ups):
        bench.warm_up("first build")
    bench.metrics.update(bench.measured_build("build"))


def _variants(bench: Bench, job: Job) -> None:
    """Build the base, then the variants; the metrics are the sums over the variants."""
    base = bench.measured_build("base")
    bench.forget_profile()
    bench.steps.append(Step("base", base))
    bench.ledger.compiler_runs = bench.ledger.bootstrap_runs = 0
    bench.effects.clear()
    for name in job.members:
        bench.summed_build(name, name)


def _call(bench: Bench, _job: Job) -> None:
    """Call a compiled function repeatedly; the counting pass counts what the calls compile."""
    graph, function, value = bench.compiled()
    bench.ledger.step = "calls"
    if bench.measure == "counting":
        with bench.recording():
            for _ in range(_COUNTED_CALLS):
                value = function(graph.point)
        bench.metrics.update(bench.ledger.counts())
    elif bench.measure == "tracing":
        calls: list[int] = []
        with bench.tracer.counting_calls(calls):
            for _ in range(_COUNTED_CALLS):
                value = function(graph.point)
        bench.metrics["python_calls"] = calls[0]
    elif bench.counter is not None:
        bench.metrics["instructions"], value = count_calls(
            bench.counter, partial(function, graph.point), _COUNTED_CALLS
        )
    else:
        begin = time.perf_counter()
        taken = seconds_a_call(partial(function, graph.point))
        bench.metrics |= {"call_time": taken.elapsed, "call_cpu_time": taken.cpu}
        bench.measured_seconds += time.perf_counter() - begin
        value = function(graph.point)
    bench.check("calls", graph, value)


def _fill(bench: Bench, job: Job) -> None:
    if SCENARIOS[job.cell.scenario].family == "sampling":
        sampling.sample(bench)
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
    """Build every graph.

    A graph that raises with an empty cache is one that this subject cannot build: that is not a
    failure, and the second process does not build it.
    """
    for member in job.members:
        name = f"fresh {member}" if job.from_empty else member
        if _build_one_of_many(bench, name, member):
            bench.values[member] = _flat(bench.last)
    if job.from_empty and bench.values:
        bench.raised.clear()


def _build_one_of_many(bench: Bench, name: str, member: str) -> bool:
    """Build one graph and add its metrics. Return False if it raised, which `raised` then says."""
    try:
        bench.summed_build(name, member)
    except Exception as error:
        traceback.print_exc()
        bench.raised.append(f"{name}: {message_of(error, 400)}"[:500])
        return False
    return True


def _real(numbers: Any) -> Any:
    """Complex numbers as their two parts."""
    if numbers.dtype.kind != "c":
        return numbers.astype(float)
    return np.concatenate([numbers.real, numbers.imag]).astype(float)


def _flat(value: Any) -> tuple[float | None, ...]:
    arrays = value if isinstance(value, list | tuple) else [value]
    numbers = np.concatenate([_real(np.ravel(np.asarray(each))) for each in arrays])
    return tuple(float(number) if np.isfinite(number) else None for number in numbers)


_FAMILIES: dict[str, Callable[[Bench, Job], None]] = {
    "build": _build,
    "variants": _variants,
    "sampling": lambda bench, _: sampling.sample(bench),
    "call": _call,
}
"""What the role `measure` does in the scenarios of a family."""
_ROLES: dict[Role, Callable[[Bench, Job], None]] = {
    "measure": _measure,
    "fill": _fill,
    "siblings": _sibling,
    "reader": _reader,
    "upgrade": _upgrade,
    "each": each.take,
}
