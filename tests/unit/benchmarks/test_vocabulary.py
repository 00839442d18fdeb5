"""The cells and metrics that exist."""

from __future__ import annotations

import pytest

from benchmarks.catalogue import (
    BACKENDS,
    BASE_VARIANT,
    METRICS,
    SCENARIOS,
    SIBLINGS,
    VARIANTS,
    Cell,
    cells,
    metrics_of,
)


def test_the_fifth_variant_is_the_base() -> None:
    assert VARIANTS[4] == BASE_VARIANT


def test_the_garbage_collection_ablation_is_measured_by_calls_only() -> None:
    assert {c.scenario for c in cells() if c.backend == "C_VM_NOGC"} == {"call"}


@pytest.mark.parametrize("backend", ["NUMBA_NO_CACHE", "NUMBA_OPS_ONLY"])
def test_the_cache_ablations_are_measured_where_a_cache_is_used_again(backend: str) -> None:
    assert {c.scenario for c in cells() if c.backend == backend} == {"warm_process", "variants"}


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (Cell("radom", "cold", "C", "fork"), "there is no model 'radom'"),
        (Cell("radon", "cold", "JAX", "fork"), "there is no backend 'JAX'"),
        (Cell("radon", "cold", "C_VM_NOGC", "fork"), "not measured with backend C_VM_NOGC"),
        (Cell("radon_pymc", "variants", "C", "fork"), "not measured with model radon_pymc"),
        (Cell("radon", "siblings_nested", "NUMBA", "spawn"), "not measured with launch spawn"),
        (Cell("closures", "siblings", "C", "fork"), "compiled by numba itself"),
        (Cell("lookalikes", "siblings", "C", "fork"), "C alone has no code"),
        (Cell("linalg", "upgrade", "C", "spawn"), "C alone has no code"),
    ],
)
def test_a_cell_that_is_not_measured_says_why(cell: Cell, said: str) -> None:
    assert said in (cell.problem() or "")


def test_misses_are_an_alarm_only_in_warm_cells() -> None:
    alarming = {s for s in SCENARIOS if METRICS["cache_misses"].alerts_in(s)}
    assert alarming == {"warm_disk", "warm_process"}
    assert METRICS["wrong_results"].alerts_in("cold")
    assert not METRICS["functions_compiled"].alerts_in("warm_disk")


def test_import_time_is_asked_of_fresh_interpreters_only() -> None:
    assert "import_time" in {m.name for m in metrics_of("cold", "spawn")}
    assert "import_time" not in {m.name for m in metrics_of("cold", "fork")}


def test_every_scenario_names_known_backends() -> None:
    assert {c.backend for c in cells()} == set(BACKENDS)


def test_what_is_measured_of_every_subject_needs_no_other_process_or_subject() -> None:
    """Else the canary, which is for some nights, would be in every history."""
    assert {c.launch for c in cells()} == {"fork", "spawn"}
    assert {c.scenario for c in cells() if c.scenario in SIBLINGS} == {"siblings"}
    assert "upgrade" not in {c.scenario for c in cells()}
