"""Inside the measured process: the builds of each scenario and the spans around them."""

from __future__ import annotations

import gc
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import backends, models, sampling, trace
from benchmarks.catalogue import BASE_VARIANT, SAMPLING
from benchmarks.environment import describe
from benchmarks.models import Graph
from benchmarks.probes.ledger import Ledger
from benchmarks.probes.process import can_trace, counting_calls, cpu_time, peak_rss

_REPEATS = 15
_REPEAT_SECONDS = 0.05
_COUNTED_CALLS = 100


@dataclass
class Bench:
    """The work of one measured process, and what it has found so far."""

    model: Any
    backend: str
    launch: str
    mode: Any
    measure: str
    probed: bool
    """Whether the probes are installed: in the counting pass, and to learn what they cost."""
    ledger: Ledger = field(default_factory=Ledger)
    metrics: dict[str, float] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    """Builds of a reader that raised, each with its exception."""
    values: dict[str, list[float | None]] = field(default_factory=dict)
    """What the graphs of an upgrade returned, flat; None for what is not finite."""
    last: Any = None
    """What the last measured build returned."""
    build_seconds: float = 0.0
    warm_up_seconds: float = 0.0
    measured_seconds: float = 0.0

    def graph(self, variant: str = BASE_VARIANT) -> Graph:
        """A fresh graph, made outside every clock."""
        begin = time.perf_counter()
        graph: Graph = self.model.graph(variant)
        self.build_seconds += time.perf_counter() - begin
        return graph

    def warm_up(self, name: str) -> None:
        """Compile and call once, unmeasured; the value is checked all the same."""
        graph = self.graph()
        begin = time.perf_counter()
        function = graph.compile(self.mode)
        value = function(graph.point)
        self.warm_up_seconds += time.perf_counter() - begin
        self.check(name, graph, value)

    def measured_build(self, name: str, variant: str = BASE_VARIANT) -> dict[str, float]:
        """Compile and call once, inside the clock or under the probes of this pass."""
        graph = self.graph(variant)
        gc.collect()
        calls: list[int] = []
        self.ledger.step = name
        with ExitStack() as stack:
            trace.event("span begins", step=name)
            if self.probed:
                stack.enter_context(self._recording())
            if self.measure == "tracing":
                stack.enter_context(counting_calls(calls))
            modules, cpu = len(sys.modules), cpu_time()
            begin = time.perf_counter()
            function = graph.compile(self.mode)
            compiled = time.perf_counter()
            value = function(graph.point)
            called = time.perf_counter()
            cpu, modules = cpu_time() - cpu, len(sys.modules) - modules
        trace.event("span ended", step=name)
        self.measured_seconds += called - begin
        self.check(name, graph, value)
        self.last = value
        if self.measure == "tracing":
            return {"python_calls": calls[0]}
        if self.measure == "counting":
            return {**self.ledger.counts(name)}
        return {
            "compile_time": called - begin,
            "function_time": compiled - begin,
            "first_call_time": called - compiled,
            "cpu_time": cpu,
            "modules_imported": modules,
        }

    def check(self, name: str, graph: Graph, value: Any) -> None:
        """Compare what a function returned with the reference."""
        found = graph.check(value)
        self.checks.append(
            {
                "name": name,
                **asdict(found),
                "note": self.model.explain(value) if found.wrong else None,
            }
        )

    @contextmanager
    def _recording(self) -> Any:
        self.ledger.recording = True
        try:
            yield
        finally:
            self.ledger.recording = False


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Do a job; return the report: status, metrics, steps, checks, ledger, environment."""
    cell, kind = job["cell"], job["measure"]
    reason = backends.problem(cell["backend"]) or _pass_problem(kind)
    if reason is None and cell["model"] == "radon_pymc" and "pymc" not in sys.modules:
        reason = "pymc is not installed in this environment"
    if reason is not None:
        return {"status": "unavailable", "message": reason, "environment": describe(job)}
    data = None if job["data"] is None else Path(job["data"])
    bench = Bench(
        models.load(cell["model"], data),
        cell["backend"],
        cell["launch"],
        backends.mode(cell["backend"]),
        kind,
        probed=job["role"] != "fill" and kind == "counting",
    )
    if bench.probed:
        install_probes(bench)
    _ROLES[job["role"]](bench, job)
    if kind == "counting":
        bench.metrics["compiler_runs"] = bench.ledger.compiler_runs
        bench.metrics["bootstrap_runs"] = bench.ledger.bootstrap_runs
    if kind == "timing" and job.get("fresh_import"):
        seconds = job["import_seconds"]
        bench.metrics["import_time"] = seconds["pytensor"] + seconds["numba"]
    if kind == "timing" and (rss := peak_rss()) is not None:
        bench.metrics["peak_rss"] = rss
    return {
        "status": "raised" if bench.raised else "ok",
        "message": "; ".join(bench.raised) or None,
        "metrics": bench.metrics,
        "steps": bench.steps,
        "checks": bench.checks,
        "values": bench.values,
        "ledger": bench.ledger.as_json() if kind == "counting" else None,
        "environment": describe(job),
        "seconds": {
            "first_line": job["first_line"],
            "imports": sum(job["import_seconds"].values()),
            "build": bench.build_seconds,
            "warm_up": bench.warm_up_seconds,
            "measured": bench.measured_seconds,
            "reported": time.monotonic(),
        },
    }


def _pass_problem(kind: str) -> str | None:
    if kind == "tracing" and not can_trace():
        return "counting Python calls needs sys.monitoring, which came with Python 3.12"
    return None


def install_probes(bench: Bench) -> None:
    """Hook the compilers and caches of the bench's backend; once per process."""
    from benchmarks.probes import c_modules, numba_cache

    c_modules.install(bench.ledger)
    if bench.backend.startswith("NUMBA") or (
        bench.backend == "DEFAULT" and backends.problem("NUMBA") is None
    ):
        numba_cache.install(bench.ledger)


def _measure(bench: Bench, job: dict[str, Any]) -> None:
    scenario = job["cell"]["scenario"]
    if scenario in SAMPLING:
        sampling.sample(bench, bench.model.data)
    elif scenario == "variants":
        _variants(bench, job["members"])
    elif scenario == "call":
        _call(bench)
    else:
        if scenario == "warm_process":
            bench.warm_up("first build")
        bench.metrics.update(bench.measured_build("build"))


def _variants(bench: Bench, names: list[str]) -> None:
    """The base from empty, then the variants; the metrics are the sums over the variants."""
    base = bench.measured_build("base")
    bench.steps.append({"name": "base", "metrics": base})
    bench.ledger.compiler_runs = bench.ledger.bootstrap_runs = 0
    for name in names:
        found = bench.measured_build(name, name)
        bench.steps.append({"name": name, "metrics": found})
        for metric, value in found.items():
            bench.metrics[metric] = bench.metrics.get(metric, 0) + value


def _call(bench: Bench) -> None:
    """Evaluate again and again; under the probes: nothing may be compiled by doing so."""
    graph = bench.graph()
    begin = time.perf_counter()
    function = graph.compile(bench.mode)
    value = function(graph.point)
    bench.warm_up_seconds += time.perf_counter() - begin
    bench.ledger.step = "calls"
    if bench.measure == "counting":
        with bench._recording():
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
    """The shortest of some repeats, each the mean over a number of calls that fills it.

    What else runs on the machine makes repeats longer and none shorter. A cost that some calls have
    and others do not is in every mean.
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


def _fill(bench: Bench, job: dict[str, Any]) -> None:
    if job["cell"]["scenario"] in SAMPLING:
        sampling.sample(bench, bench.model.data)
    else:
        bench.warm_up("fill")


def _sibling(bench: Bench, job: dict[str, Any]) -> None:
    """One sibling: one variant into the shared cache."""
    for name in job["members"]:
        bench.steps.append({"name": name, "metrics": bench.measured_build(name, name)})


def _reader(bench: Bench, job: dict[str, Any]) -> None:
    """A fresh process reads what the siblings left."""
    for name in job["members"]:
        _build_one_of_many(bench, name, name)


def _upgrade(bench: Bench, job: dict[str, Any]) -> None:
    """All graphs, from whatever the cache holds.

    From an empty cache, what raises is nothing that this subject can build: the second process will
    not be asked for it.
    """
    for member in job["members"]:
        if _build_one_of_many(bench, f"{job['prefix']}{member}", member):
            bench.values[member] = _flat(bench.last)
    if job["prefix"] and bench.values:
        bench.raised.clear()


def _build_one_of_many(bench: Bench, name: str, member: str) -> bool:
    """Build and sum up; whether it was built. The others are built all the same."""
    try:
        found = bench.measured_build(name, member)
    except Exception as error:
        traceback.print_exc()
        bench.raised.append(f"{name}: {type(error).__name__}: {error}"[:500])
        return False
    bench.steps.append({"name": name, "metrics": found})
    for metric, value in found.items():
        bench.metrics[metric] = bench.metrics.get(metric, 0) + value
    return True


def _flat(value: Any) -> list[float | None]:
    arrays = value if isinstance(value, list | tuple) else [value]
    numbers = np.concatenate([np.ravel(np.asarray(each, dtype=float)) for each in arrays])
    return [float(number) if np.isfinite(number) else None for number in numbers]


_ROLES: dict[str, Callable[[Bench, dict[str, Any]], None]] = {
    "measure": _measure,
    "fill": _fill,
    "siblings": _sibling,
    "reader": _reader,
    "upgrade": _upgrade,
}
