"""The common part of the ASV suites: they take samples, and their benchmarks read them.

asv schedules and records; `benchmarks.sample` takes the samples, whatever start method asv itself
uses. Environment variables restrict a suite: OBSERVATORY_BACKENDS and OBSERVATORY_LAUNCHES
(comma-separated), OBSERVATORY_ROUNDS (timing samples of each cell, default 3) and
OBSERVATORY_WORK (samples of the pass `work`, default 0, as each takes up to a minute).
"""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .catalogue import (
    BACKENDS,
    LAUNCHES,
    METRICS,
    Cell,
    backends_of,
    cells,
    launches_of,
    metrics_of,
    models_of,
    no_such,
)  # fmt: skip
from .messages import SampleRecord
from .plan import Rounds, plan, recorded
from .request import Request
from .sample import take

SUITE_TIMEOUT = 4 * 3600
"""Seconds for all samples of a suite: the variants of an old release take most of an hour."""


@dataclass
class CellSamples:
    """The samples of one cell, from all passes."""

    values: dict[str, list[float]] = field(default_factory=dict)
    """By metric, a value for each sample that gave it, in the metric's unit."""
    reasons: dict[str, str] = field(default_factory=dict)
    """By metric, why it has no value; with the key "", why a sample failed."""

    def add(self, record: SampleRecord) -> None:
        """Add the metrics that a record has for its pass, and its reasons for the others."""
        for name, value in recorded(record.metrics, record.measure).items():
            self.values.setdefault(name, []).append(value)
        self.reasons.update(record.absent)
        if record.failure is not None:
            self.reasons[""] = record.failure.message


Samples = dict[tuple[str, str, str], CellSamples]
"""By (model, backend, launch)."""

_Suite = TypeVar("_Suite")


def take_samples(scenario: str, models: tuple[str, ...] = ("radon",)) -> Samples:
    """Take every sample of a suite and return them, as its `setup_cache` does.

    Raises OSError if a sample cannot be started, ValueError if OBSERVATORY_ROUNDS or
    OBSERVATORY_WORK is not a number, or OBSERVATORY_BACKENDS or OBSERVATORY_LAUNCHES has a word
    that there is not.
    """
    backends = _chosen("OBSERVATORY_BACKENDS", "backend", backends_of(scenario), BACKENDS)
    launches = _chosen("OBSERVATORY_LAUNCHES", "start method", launches_of(scenario), LAUNCHES)
    wanted = list(cells(models, (scenario,), backends, launches))
    timing = int(os.environ.get("OBSERVATORY_ROUNDS", "3"))
    work = int(os.environ.get("OBSERVATORY_WORK", "0"))
    rounds = Rounds(timing, counting=1, tracing=1, work=work)
    found: Samples = {}
    with tempfile.TemporaryDirectory(prefix="observatory-filled-") as kept:
        for task in plan(wanted, rounds):
            filled = None if task.cache is None else Path(kept, task.cache)
            # A filler that failed left no cache: each sample then fills one, or fails too.
            cache = filled if filled is not None and filled.is_dir() else None
            keep = None if task.keep is None else Path(kept, task.keep)
            seed = task.hash_seed
            record = take(
                Request(task.cell, task.measure, cache=cache, keep_cache=keep, hash_seed=seed)
            )
            if task.cell in wanted:
                key = (task.cell.model, task.cell.backend, task.cell.launch)
                found.setdefault(key, CellSamples()).add(record)
    return found


def _chosen(
    variable: str, noun: str, every: tuple[str, ...], known: Collection[str]
) -> tuple[str, ...]:
    """The words of a variable; ``every`` word without one. Raises ValueError for an unknown one.

    A word of which this suite has no cell is no mistake: the variable is for all suites.
    """
    words = os.environ.get(variable)
    if not words:
        return every
    chosen = tuple(word.strip() for word in words.split(","))
    for word in chosen:
        if word not in known:
            raise ValueError(f"{variable}: {no_such(noun, word, known)}")
    return chosen


def track(scenario: str, metric: str) -> Callable[..., Any]:
    """Return a benchmark method that reads one metric of a cell from the samples of `setup_cache`.

    The method returns the value that stands for the samples (`Metric.value_of`); for a noisy
    metric, a dictionary of samples, from which asv computes its statistics. It raises RuntimeError
    if no sample has the metric, and its setup raises NotImplementedError ("n/a" to asv) if the cell
    cannot have it.
    """

    def setup(samples: Samples, model: str, backend: str, launch: str) -> None:
        # asv reads NotImplementedError as "n/a", but only in a setup.
        reason = _not_applicable(samples, Cell(model, scenario, backend, launch), metric)
        if reason is not None:
            raise NotImplementedError(reason)

    def benchmark(_: Any, samples: Samples, model: str, backend: str, launch: str) -> Any:
        found = samples[(model, backend, launch)]
        if metric not in found.values:
            raise RuntimeError(f"no sample gave {metric}: {found.reasons}")
        values = found.values[metric]
        if METRICS[metric].kind == "noisy":
            return {"samples": values, "number": 1}
        return METRICS[metric].value_of(values)

    benchmark.__name__ = f"track_{metric}"
    benchmark.__doc__ = METRICS[metric].meaning
    benchmark.setup = setup  # type: ignore[attr-defined]
    benchmark.unit = METRICS[metric].unit  # type: ignore[attr-defined]
    return benchmark


def _not_applicable(samples: Samples, cell: Cell, metric: str) -> str | None:
    """Why a metric of a cell has no number although nothing failed; None: it should have one."""
    found = samples.get((cell.model, cell.backend, cell.launch))
    if found is None:
        return "not measured by this suite"
    if metric not in {each.name for each in metrics_of(cell.scenario, cell.launch)}:
        return f"{metric} makes no sense under {cell.launch}"
    if metric in found.values or max(found.values.get("crashed", [0])):
        return None
    return f"{metric} is not available: {found.reasons}"


def suite(
    scenario: str, models: tuple[str, ...] = ("radon",)
) -> Callable[[type[_Suite]], type[_Suite]]:
    """Return a decorator that gives a class the parameters and the benchmarks of a scenario.

    A class without a `setup_cache` gets one that takes the samples of these models.
    """

    def decorate(cls: type[_Suite]) -> type[_Suite]:
        launches = launches_of(scenario)
        metrics = {m.name for launch in launches for m in metrics_of(scenario, launch)}
        attributes = {
            "params": (models_of(scenario), backends_of(scenario), launches),
            "param_names": ("model", "backend", "launch"),
            "version": "1",
            "timeout": 60,
            "setup_cache": vars(cls).get("setup_cache") or _setup_cache(cls, scenario, models),
            **{f"track_{name}": track(scenario, name) for name in METRICS if name in metrics},
        }
        for name, value in attributes.items():
            setattr(cls, name, value)
        vars(cls)["setup_cache"].timeout = SUITE_TIMEOUT
        return cls

    return decorate


def _setup_cache(cls: type, scenario: str, models: tuple[str, ...]) -> Callable[..., Samples]:
    def setup_cache(_: object) -> Samples:
        return take_samples(scenario, models)

    # asv tells functions of this name apart by their module and line: by those of their classes.
    setup_cache.__module__ = cls.__module__
    setup_cache.__code__ = setup_cache.__code__.replace(
        co_filename=inspect.getfile(cls), co_firstlineno=inspect.getsourcelines(cls)[1]
    )
    return setup_cache
