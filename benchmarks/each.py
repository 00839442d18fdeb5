"""What a fork does with its one graph of many, in each family of scenarios."""

from __future__ import annotations

import gc
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from .bench import Bench
from .catalogue import METRICS, MODELS, SCENARIOS, Scenario
from .messages import Job, Step, StepStatus
from .models import FIRST, NotInThisRelease
from .models.parts import frozen_nodes
from .models.parts.topics.tally import evaluations
from .path import steps
from .probes.fallbacks import noticing
from .probes.graphs import Noted, counts_of, noting_graphs
from .probes.key_cost import without_collections
from .probes.ledger import shorten
from .probes.profile import Tracer
from .raised import message_of


@dataclass
class _Found:
    """What is known of one graph, also if what was done with it raised."""

    metrics: dict[str, float] = field(default_factory=dict)
    in_python: list[str] = field(default_factory=list)
    """The Ops that run in Python."""
    compiled: tuple[str, ...] = ()
    """Who asked for each PyTensor function."""
    noted: Noted = field(default_factory=Noted)


def take(bench: Bench, job: Job) -> None:
    """Do with each member of the job what its scenario says, and keep a step of each.

    What a member raises is the result of this member alone.
    """
    scenario = SCENARIOS[job.cell.scenario]
    work = _compare_keys if scenario.of_pair == "keys" else _WORK.get(scenario.family, _build)
    for name in job.members:
        found = _Found()
        status: StepStatus = "ok"
        note: str | None = None
        try:
            work(bench, job, name, found)
        except NotInThisRelease as error:
            status, note = "absent", str(error)
        except Exception as error:
            traceback.print_exc()
            status, note = "raised", message_of(error, 500)
        bench.steps.append(
            Step(
                name,
                found.metrics,
                status,
                note and note[:500],
                tuple(map(shorten, found.in_python)),
                found.compiled,
            )
        )
        bench.metrics.update(found.metrics)
        bench.ops |= found.noted.ops


def _compare_keys(bench: Bench, job: Job, name: str, found: _Found) -> None:
    equal = MODELS[job.cell.model].described_by(job.graphs).equal
    found.metrics = bench.compare_keys(name, equal=name in equal)


def _make_keys(bench: Bench, _job: Job, name: str, found: _Found) -> None:
    found.metrics = bench.make_keys(name)


def _grow(bench: Bench, _job: Job, name: str, found: _Found) -> None:
    found.metrics = bench.grow(name)


def _walk(bench: Bench, _job: Job, name: str, found: _Found) -> None:
    step = steps.take(bench, name)
    found.metrics, found.compiled = step.metrics, step.compiled


def _build(
    bench: Bench, job: Job, name: str, found: _Found, kept: list[partial[Any]] | None = None
) -> None:
    scenario = SCENARIOS[job.cell.scenario]
    member = FIRST.format(name) if scenario.of_pair == "first" else name
    with noticing() as found.in_python, _noting_graphs(job, scenario) as found.noted:
        built = bench.measured_build(name, member, kept)
    # Memory and bytes of each graph would be most of the record.
    found.metrics = {m: value for m, value in built.items() if METRICS[m].kind == "exact"}
    found.metrics["python_fallbacks"] = len(found.in_python)


def _noting_graphs(job: Job, scenario: Scenario) -> AbstractContextManager[Noted]:
    """Only where nothing is timed: it looks at each graph inside the measured span."""
    wanted = scenario.covers_ops or scenario.family == "topics"
    return noting_graphs() if wanted and job.measure == "counting" else nullcontext(Noted())


def _topic(bench: Bench, job: Job, name: str, found: _Found) -> None:
    """Build a topic, use its function further, and count what the topic tells."""
    kept: list[partial[Any]] = []
    _build(bench, job, name, found, kept)
    if job.measure != "counting":
        return
    graph = bench.model.graph(name)
    found.metrics |= counts_of(found.noted.graphs, graph.tells)
    if "branch_evaluations" in graph.tells:
        found.metrics["branch_evaluations"] = evaluations()
    if graph.check_again is None:
        return
    again = f"{name} again"
    bench.ledger.step = again
    with bench.recording():
        value = kept[0].func.again()  # type: ignore[attr-defined]
    bench.check(name, replace(graph, check=graph.check_again), value)
    counts = bench.ledger.counts(again)
    for entry in bench.ledger.entries:  # they belong to the same graph
        entry.step = name if entry.step == again else entry.step
    found.metrics["compiled_again"] = counts["cache_misses"] + counts["uncacheable"]


def _freeze(bench: Bench, job: Job, name: str, found: _Found) -> None:
    """Prepare one member, and measure what freezing, hashing or comparing cost in this pass."""
    graph = bench.graph(name)
    work = graph.compile(bench.mode)
    counting = job.measure == "counting"
    calls: list[int] = []
    with without_collections():
        begin = time.thread_time()
        with Tracer().counting_calls(calls) if counting else nullcontext():
            value = work(graph.point)
        seconds = time.thread_time() - begin
    bench.measured_seconds += seconds
    bench.check(name, graph, value)
    del value, work
    gc.collect()
    found.metrics = {"frozen_calls": calls[0]} if counting else {"frozen_time": seconds}
    if counting and "frozen_kept" in graph.tells:
        found.metrics["frozen_kept"] = frozen_nodes.nodes_in_memory()


_WORK: Mapping[str, Callable[[Bench, Job, str, _Found], None]] = {
    "key_making": _make_keys,
    "freezing": _freeze,
    "path": _walk,
    "growth": _grow,
    "topics": _topic,
}
"""What is done with one graph in the scenarios of a family; in the others it is built."""
