"""What the ASV suites share: which samples a suite takes, and how its benchmarks read them.

asv schedules and records; the samples are those of `benchmarks.sample`, whatever launch method
asv itself uses. Environment variables narrow a suite for a quick look: OBSERVATORY_BACKENDS and
OBSERVATORY_LAUNCHES (comma-separated), OBSERVATORY_ROUNDS (timing samples a cell, default 3).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.catalogue import (
    METRICS,
    Cell,
    backends_of,
    cells,
    launches_of,
    metrics_of,
    models_of,
)
from benchmarks.plan import Rounds, plan, recorded
from benchmarks.request import Request
from benchmarks.sample import take

HOURS = 4 * 3600
"""Seconds for all samples of a suite: the variants of an old release take most of one."""
Samples = dict[tuple[str, str, str], dict[str, Any]]
"""By (model, backend, launch): lists of values by metric, and the reason if there are none."""

_Suite = TypeVar("_Suite")


def take_samples(scenario: str, models: tuple[str, ...] = ("radon",)) -> Samples:
    """Take every sample of a suite; what `setup_cache` returns.

    Other models are taken with `observatory run`, which builds them an environment.
    """
    wanted = list(
        cells(
            models,
            (scenario,),
            _chosen("OBSERVATORY_BACKENDS", backends_of(scenario)),
            _chosen("OBSERVATORY_LAUNCHES", launches_of(scenario)),
        )
    )
    rounds = Rounds(timing=int(os.environ.get("OBSERVATORY_ROUNDS", "3")), counting=1, tracing=1)
    found: Samples = {}
    with tempfile.TemporaryDirectory(prefix="observatory-filled-") as kept:
        for task in plan(wanted, rounds):
            filled = None if task.cache is None else Path(kept, task.cache)
            record = take(
                Request(
                    task.cell,
                    task.measure,
                    # A filler that failed has left none: each sample then says so for itself.
                    cache=filled if filled is not None and filled.is_dir() else None,
                    keep_cache=None if task.keep is None else Path(kept, task.keep),
                )
            )
            if task.cell in wanted:
                _add(found, task.cell, task.measure, record)
    return found


def _chosen(variable: str, every: tuple[str, ...]) -> tuple[str, ...]:
    words = os.environ.get(variable)
    return every if not words else tuple(word.strip() for word in words.split(","))


def _add(found: Samples, cell: Cell, measure: Any, record: dict[str, Any]) -> None:
    entry = found.setdefault((cell.model, cell.backend, cell.launch), {"values": {}, "why": {}})
    for name, value in recorded(record["metrics"], measure).items():
        entry["values"].setdefault(name, []).append(value)
    entry["why"].update(record["absent"])
    if record["failure"] is not None:
        entry["why"][""] = record["failure"]["message"]


def track(scenario: str, metric: str) -> Callable[..., Any]:
    """A benchmark method that reads one metric of a cell from the samples of `setup_cache`.

    asv gives statistics to what returns a dictionary of samples, whatever it is that was tracked.
    """

    def setup(samples: Samples, model: str, backend: str, launch: str) -> None:
        # asv reads NotImplementedError as "n/a", and only in a setup; a function may have its own.
        reason = _not_applicable(samples, Cell(model, scenario, backend, launch), metric)
        if reason is not None:
            raise NotImplementedError(reason)

    def tracked(_: Any, samples: Samples, model: str, backend: str, launch: str) -> Any:
        found = samples[(model, backend, launch)]
        if metric not in found["values"]:
            raise RuntimeError(f"no sample gave {metric}: {found['why']}")
        values = found["values"][metric]
        if METRICS[metric].kind == "noisy":
            return {"samples": values, "number": 1}
        # The worst, where repetitions of an exact metric differ.
        return max(values)

    tracked.__name__ = f"track_{metric}"
    tracked.__doc__ = METRICS[metric].meaning
    tracked.setup = setup  # type: ignore[attr-defined]
    tracked.unit = METRICS[metric].unit  # type: ignore[attr-defined]
    return tracked


def _not_applicable(samples: Samples, cell: Cell, metric: str) -> str | None:
    """Why a metric of a cell has no number without anything having failed; None: it should."""
    found = samples.get((cell.model, cell.backend, cell.launch))
    if found is None:
        return "not measured by this suite"
    if metric not in {known.name for known in metrics_of(cell.scenario, cell.launch)}:
        return f"{metric} makes no sense under {cell.launch}"
    if metric in found["values"] or max(found["values"].get("crashed", [0])):
        return None
    return f"{metric} is not available: {found['why']}"


def suite(scenario: str) -> Callable[[type[_Suite]], type[_Suite]]:
    """Give a class the parameters, the version and the benchmarks of a scenario."""

    def decorate(cls: type[_Suite]) -> type[_Suite]:
        launches = launches_of(scenario)
        metrics = {m.name for launch in launches for m in metrics_of(scenario, launch)}
        attributes = {
            "params": (models_of(scenario), backends_of(scenario), launches),
            "param_names": ("model", "backend", "launch"),
            "version": "1",
            "timeout": 60,
            **{f"track_{name}": track(scenario, name) for name in METRICS if name in metrics},
        }
        for name, value in attributes.items():
            setattr(cls, name, value)
        return cls

    return decorate
