"""Cells and metrics in asv's words: benchmark names, parameters, units. Pure, both directions.

``compile.WarmDisk.track_cache_misses`` is the metric `cache_misses` of the scenario `warm_disk`;
its parameters are model, backend and launch, which asv stores as Python's repr of them.
"""

from __future__ import annotations

from observatory.benchmarks.catalogue import (
    METRICS,
    SCENARIOS,
    Cell,
    Metric,
    backends_of,
    launches_of,
    metrics_of,
    models_of,
)

PARAM_NAMES = ("model", "backend", "launch")
BENCHMARK_VERSION = "1"
"""asv drops results of another version: raise it when a number stops being comparable."""


def suite_name(scenario: str) -> str:
    """The module and the class of the asv suite of a scenario, as in ``compile.WarmDisk``."""
    class_name = "".join(part.capitalize() for part in scenario.split("_"))
    return f"{SCENARIOS[scenario].suite}.{class_name}"


def benchmark_name(scenario: str, metric: str) -> str:
    """The name that asv gives to the benchmark of a metric in a scenario."""
    return f"{suite_name(scenario)}.track_{metric}"


def asv_params(scenario: str) -> list[list[str]]:
    """The reprs of a scenario's models, of its backends and of its launches, as asv stores them."""
    lists = (models_of(scenario), backends_of(scenario), launches_of(scenario))
    return [[repr(word) for word in words] for words in lists]


def scenario_metrics(scenario: str) -> tuple[Metric, ...]:
    """Every metric that a scenario has with any launch, in the order of the vocabulary."""
    launches = launches_of(scenario)
    names = {metric.name for launch in launches for metric in metrics_of(scenario, launch)}
    return tuple(metric for metric in METRICS.values() if metric.name in names)


def parse_name(name: str) -> tuple[str, Metric] | None:
    """The scenario and metric of a benchmark's name; None if it is not one of this observatory."""
    return _BY_NAME.get(name)


def parse_params(scenario: str, values: tuple[str, ...]) -> Cell | None:
    """The cell of a scenario that a combination of stored parameters stands for.

    ``values`` are the reprs of model, backend and launch. None if they are not, or if this cell is
    not measured.
    """
    words = [value[1:-1] for value in values if len(value) > 2 and value[0] == value[-1] == "'"]
    if not len(values) == len(words) == len(PARAM_NAMES):
        return None
    cell = Cell(words[0], scenario, *words[1:])
    return cell if cell.problem() is None else None


_BY_NAME = {
    benchmark_name(scenario, metric.name): (scenario, metric)
    for scenario in SCENARIOS
    for metric in scenario_metrics(scenario)
}
