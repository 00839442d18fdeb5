"""One build: compiling and calling a graph inside the span that a metric measures."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from . import backends, trace
from .calls import seconds_a_call
from .catalogue import BACKENDS, METRICS, Measure
from .messages import Check, Counter, Step
from .models import FIRST, Graph, Graphs
from .probes import collecting, effects, key_cost, numba_keys, sleeping
from .probes.entries import EntryCounter
from .probes.instructions import counting_instructions
from .probes.ledger import Ledger
from .probes.memory import HighWater, MemoryOfBuild
from .probes.phases import PhaseClock
from .probes.process import cpu_time, peak_rss
from .probes.profile import Tracer
from .probes.waiting import Waiting
from .profiles import Profile

_BRIEFLY = 5, 0.01
"""How calls of one graph of many are timed: repeats, and seconds of each."""


@dataclass
class Bench:
    """The model, the mode and the probes of one measured process, and what it has found so far."""

    model: Graphs
    backend: str
    launch: str
    mode: Any
    measure: Measure
    probed: bool
    """Whether the probes are installed: in the counting pass, and to measure what they cost."""
    weighed: bool = True
    """Whether the counting pass measures memory: that takes longer than building a small graph."""
    counter: Counter | None = None
    """Pass work: what counts instructions."""
    ledger: Ledger = field(default_factory=Ledger)
    metrics: dict[str, float] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    """Builds of a reader that raised, each with its exception."""
    values: dict[str, tuple[float | None, ...]] = field(default_factory=dict)
    """What the graphs of an upgrade returned, flat; None for a number that is not finite."""
    effects: set[str] = field(default_factory=set)
    """What of the process the measured builds left changed."""
    ops: set[str] = field(default_factory=set)
    """The classes of the Ops in the graphs that were built apart."""
    tracer: Tracer | EntryCounter = field(default_factory=Tracer)
    phases: PhaseClock = field(default_factory=PhaseClock)
    high_water: HighWater = field(default_factory=HighWater)
    suspects: list[str] = field(default_factory=list)
    """Pairs whose keys are not what they should be."""
    last: Any = None
    """What the last measured build returned."""
    build_seconds: float = 0.0
    warm_up_seconds: float = 0.0
    measured_seconds: float = 0.0

    @property
    def deferred(self) -> bool:
        """Whether values have to be waited for."""
        return BACKENDS[self.backend].deferred

    def graph(self, variant: str = "") -> Graph:
        """Return a fresh graph of one member, or of the base if none is named.

        Its seconds count as `build_seconds`.
        """
        begin = time.perf_counter()
        graph = self.model.graph(variant)
        self.build_seconds += time.perf_counter() - begin
        return graph

    def compiled(self) -> tuple[Graph, Callable[[Any], Any], Any]:
        """Compile and call the base outside the measured span; return graph, function and value.

        The function waits for its values.
        """
        graph = self.graph()
        begin = time.perf_counter()
        made = graph.compile(self.mode)
        function = (lambda point: backends.as_arrays(made(point))) if self.deferred else made
        value = function(graph.point)
        self.warm_up_seconds += time.perf_counter() - begin
        return graph, function, value

    def warm_up(self, name: str) -> None:
        """Compile and call the base outside the measured span; check the value as ``name``."""
        graph, _, value = self.compiled()
        self.check(name, graph, value)

    def measured_build(
        self, name: str, variant: str = "", kept: list[partial[Any]] | None = None
    ) -> dict[str, float]:
        """Compile and call one member once, inside the measured span of this pass.

        ``kept``: takes a function that calls it once more; None: nothing is kept in memory.

        Returns the metrics of this build: seconds in the timing pass, counts in the others. The
        value is checked as ``name`` and kept as `last`. Raises what the subject raises.
        """
        graph = self.graph(variant)
        gc.collect()
        calls: list[int] = []
        waiting = Waiting()
        deferred = self.deferred
        weighs = self.probed and self.weighed
        before = effects.snapshot() if weighs else {}
        memory = MemoryOfBuild() if weighs else None
        self.ledger.step = name
        with ExitStack() as stack:
            trace.event("span begins", step=name)
            if self.probed:
                stack.enter_context(self.recording())
            if memory is not None:
                stack.enter_context(self.high_water.running())
            if self.measure == "tracing":
                stack.enter_context(self.tracer.counting_calls(calls))
            if self.measure == "timing":
                stack.enter_context(self.phases.running())
                stack.enter_context(waiting.running())
            if self.counter is not None:
                stack.enter_context(counting_instructions(self.counter, calls))
            modules, cpu = len(sys.modules), cpu_time()
            begin = time.perf_counter()
            function = graph.compile(self.mode)
            compiled = time.perf_counter()
            value = function(graph.point)
            if deferred:
                value = backends.as_arrays(value)
            called = time.perf_counter()
            cpu, modules = cpu_time() - cpu, len(sys.modules) - modules
        trace.event("span ended", step=name)
        self.measured_seconds += called - begin
        self.last = value
        if kept is not None:
            kept.append(partial(function, graph.point))
        left: dict[str, float] = {}
        if self.measure == "counting" and memory is not None:
            self.effects |= (changed := effects.changed(before, effects.snapshot()))
            left["side_effects"] = len(changed)
            memory.built(function)
            del function
            left |= memory.deleted()
        self.check(name, graph, value)  # now, because a reference may import and keep things
        times = {
            "compile_time": called - begin,
            "function_time": compiled - begin,
            "first_call_time": called - compiled,
            "cpu_time": cpu,
            "modules_imported": modules,
        }
        if waiting.seconds is not None and not BACKENDS[self.backend].threaded:
            times["waiting_time"] = waiting.seconds
        return self._metrics(name, times, calls, left)

    def _metrics(
        self, name: str, times: dict[str, float], calls: list[int], left: dict[str, float]
    ) -> dict[str, float]:
        """The metrics of one build in this pass; ``left``: what it left behind."""
        match self.measure:
            case "timing":
                return times
            case "work":
                return {} if self.counter is None else {"instructions": calls[0]}
            case "tracing":
                runs = self.tracer.llvm_pass_runs if BACKENDS[self.backend].may_use_numba else None
                known = {} if runs is None else {"llvm_pass_runs": runs}
                return {"python_calls": calls[0], **known}
            case "counting":
                return {**self.ledger.counts(name), **left}

    def compare_keys(self, name: str, *, equal: bool) -> dict[str, float]:
        """Compile both graphs of a pair without a call; keep it in `suspects` if its keys are.

        A call would compile machine code, which takes many times as long. ``equal``: whether
        the keys must be equal, and not different. Returns how many keys are missing. Raises what
        the subject raises.
        """
        begin = time.perf_counter()
        first, second = (
            numba_keys.keys_of(self.graph(member).compile, self.mode)
            for member in (FIRST.format(name), name)
        )
        self.measured_seconds += time.perf_counter() - begin
        if numba_keys.are_suspect(first, second, equal=equal):
            self.suspects.append(name)
        return {"keys_missing": first.missing + second.missing}

    def make_keys(self, name: str) -> dict[str, float]:
        """Compile one member without a call, and return what its keys cost in this pass.

        Raises what the subject raises.
        """
        graph = self.graph(name)
        counting = self.measure == "counting"
        begin = time.perf_counter()
        with key_cost.counting_key_calls() if counting else key_cost.timing_keys() as cost:
            graph.compile(self.mode)
        self.measured_seconds += time.perf_counter() - begin
        return {"key_calls": cost.calls} if counting else {"key_time": cost.seconds}

    def grow(self, name: str) -> dict[str, float]:
        """Compile and call one member once, and return what this pass says of it.

        The timing pass gives also the time of a call, and the memory that the build has taken.
        Raises what the subject raises.
        """
        before = peak_rss()
        kept: list[partial[Any]] = []
        found = self.measured_build(name, name, kept)
        if self.measure == "timing":
            if before is not None and (after := peak_rss()) is not None:
                found["build_memory"] = after - before
            found["call_time"] = seconds_a_call(kept[0], *_BRIEFLY).elapsed
        return {name: value for name, value in found.items() if METRICS[name].by_size}

    def check(self, name: str, graph: Graph, value: Any) -> None:
        """Compare what a function returned with the reference, and keep the result as ``name``."""
        found = graph.check(value)
        wrong = found.wrong and not found.within(BACKENDS[self.backend].tolerance)
        note = self.model.explain(value) if wrong else None
        self.checks.append(Check(name, found.logp_error, found.gradient_error, wrong, note))

    def profile(self) -> Profile | None:
        """Return the profile of the builds so far; None of none, and in a pass without profiles."""
        profiles = {
            "tracing": self.tracer.profile,
            "timing": self.phases.profile,
            "counting": self.high_water.profile,
        }
        found = profiles[self.measure]() if self.measure in profiles else Profile()
        return found if found.phases else None

    def forget_profile(self) -> None:
        """Leave the builds so far out of the profile."""
        self.tracer, self.phases, self.high_water = Tracer(), PhaseClock(), HighWater()

    def summed_build(self, name: str, variant: str = "") -> None:
        """Do a `measured_build`, keep it as a step, and add its metrics to the sums of all."""
        found = self.measured_build(name, variant)
        self.steps.append(Step(name, found))
        for metric, value in found.items():
            self.metrics[metric] = self.metrics.get(metric, 0) + value

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Let the probes write to the ledger inside the block."""
        self.ledger.recording = True
        try:
            with (
                sleeping.counting(self.ledger.sleeps),
                collecting.counting(self.ledger.collects),
            ):
                yield
        finally:
            self.ledger.recording = False
