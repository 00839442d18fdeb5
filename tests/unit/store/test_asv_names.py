from __future__ import annotations

import itertools

from observatory.benchmarks.catalogue import BACKENDS, LAUNCHES, MODELS, SCENARIOS, cells
from observatory.store.asv.names import (
    asv_params,
    benchmark_name,
    parse_name,
    parse_params,
    scenario_metrics,
)


def test_names_are_module_class_and_metric() -> None:
    assert benchmark_name("warm_disk", "cache_misses") == "compile.WarmDisk.track_cache_misses"
    assert benchmark_name("call", "call_time") == "call.Call.track_call_time"


def test_every_name_can_be_read_back() -> None:
    for scenario in SCENARIOS:
        for metric in scenario_metrics(scenario):
            assert parse_name(benchmark_name(scenario, metric.name)) == (scenario, metric)
    assert parse_name("compile.Cold.track_call_time") is None
    assert parse_name("other.Suite.time_it") is None


def test_the_product_of_the_parameters_holds_every_cell_that_is_measured() -> None:
    for scenario in SCENARIOS:
        product = itertools.product(*asv_params(scenario))
        found = {cell for values in product if (cell := parse_params(scenario, values))}
        assert found == set(cells(tuple(MODELS), (scenario,), tuple(BACKENDS), tuple(LAUNCHES)))


def test_parameters_are_reprs_in_the_order_of_the_vocabulary() -> None:
    models, backends, launches = asv_params("call")
    assert (models, launches) == (["'radon'", "'radon_pymc'"], ["'fork'", "'spawn'"])
    called = {cell.backend for cell in cells(tuple(MODELS), ("call",), tuple(BACKENDS), ("fork",))}
    assert backends == [f"'{name}'" for name in BACKENDS if name in called]
    assert backends[:2] == ["'C'", "'C_VM'"]


def test_parameters_that_are_no_cell_are_none() -> None:
    assert parse_params("cold", ("'radon'", "'C'")) is None
    assert parse_params("cold", ("radon", "C", "fork")) is None
    assert parse_params("cold", ("'radon'", "'PYPY'", "'fork'")) is None
    assert parse_params("cold", ("''", "'", "")) is None
