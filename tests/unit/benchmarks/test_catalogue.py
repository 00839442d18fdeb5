"""The cells and metrics that exist."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from observatory.benchmarks import backends
from observatory.benchmarks.catalogue import (
    BACKENDS,
    CACHES,
    CAUSES,
    METRICS,
    MODELS,
    QUICK_MODELS,
    REUSE_LOST,
    SCENARIOS,
    SIBLINGS,
    Cell,
    backends_of,
    cells,
    metrics_of,
)
from observatory.benchmarks.models.parts.radon_data import BASE_VARIANT, VARIANTS

ROOT = Path(__file__).resolve().parents[3]


_BACKEND = """
from . import Model
MODEL = Model(meaning="m", reference="r", build=None, families=(), without=("CC",), because="b")
"""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", " defines no MODEL; define one, or move "),
        ("MODEL = 1", " defines no MODEL; "),
        ("import nowhere", " cannot be imported: ModuleNotFoundError: No module named 'nowhere'"),
        ("def", " cannot be imported: SyntaxError: "),
        (_BACKEND, ": there is no backend 'CC' (did you mean 'C'?); choose from C, C_VM"),
        (_BACKEND.replace("because", "size=1, reason"), " cannot be imported: TypeError: "),
    ],
)
def test_a_file_that_defines_no_model_is_named(tmp_path: Path, content: str, said: str) -> None:
    """In another process, because what a process has imported stays. A package is no model."""
    (tmp_path / "of_a_test.py").write_text(content)
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / "__init__.py").touch()
    code = (
        "from observatory.benchmarks import models\n"
        f"models.__path__.append({str(tmp_path)!r})\n"
        "try:\n"
        "    import observatory.benchmarks.catalogue\n"
        "except models.ModelError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert f"benchmarks/models/of_a_test.py{said}" in done.stdout


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
        (Cell("radon", "cold", "TPU", "fork"), "there is no backend 'TPU'"),
        (Cell("radon", "cold", "C_VM_NOGC", "fork"), "not measured with backend C_VM_NOGC"),
        (Cell("radon_pymc", "variants", "C", "fork"), "not measured with model radon_pymc"),
        (
            Cell("radon", "siblings_nested", "NUMBA", "spawn"),
            "not measured with start method spawn",
        ),
        (Cell("closures", "siblings", "C", "fork"), "compiled by numba itself"),
        (Cell("lookalikes", "siblings", "C", "fork"), "C alone has no code"),
        (Cell("linalg", "upgrade", "C", "spawn"), "C alone has no code"),
    ],
)
def test_a_cell_that_is_not_measured_says_why(cell: Cell, said: str) -> None:
    assert said in (cell.problem() or "")


def test_misses_are_an_alarm_only_in_warm_cells() -> None:
    alarming = {s for s in SCENARIOS if METRICS["cache_misses"].alerts_in(s)}
    assert {"warm_disk", "warm_process"} <= alarming
    assert all(SCENARIOS[scenario].warm for scenario in alarming)
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


def test_the_catalogue_imports_the_standard_library_alone() -> None:
    """Both sides of a process boundary read it, and the measured process before its clocks run."""
    asked = (
        "import sys, benchmarks.catalogue; "
        "print([one for one in sys.modules if '.' not in one and one != 'benchmarks'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True
    )
    imported = set(ast.literal_eval(done.stdout))
    assert imported <= {"__main__", *sys.stdlib_module_names, *sys.builtin_module_names} | {
        one for one in imported if one.startswith(("_", "__editable__", "sitecustomize"))
    }


@pytest.mark.parametrize("model", MODELS)
def test_what_a_model_names_exists(model: str) -> None:
    families = {one.family for one in SCENARIOS.values()}
    assert set(MODELS[model].families) <= families
    assert {*MODELS[model].without, *MODELS[model].only} <= set(BACKENDS)


def test_a_model_that_leaves_out_a_backend_must_say_why() -> None:
    with pytest.raises(ValueError, match="without a reason"):
        replace(MODELS["radon"], without=("C",))


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_a_scenario_names_exists(name: str) -> None:
    scenario = SCENARIOS[name]
    assert set(scenario.backends) <= set(BACKENDS)
    assert scenario.filled_by in ("", *SCENARIOS)
    assert scenario.headline in METRICS
    for backend in backends_of(name):
        assert scenario.seconds_with(BACKENDS[backend].expected_as) > 0


@pytest.mark.parametrize("name", BACKENDS)
def test_what_a_backend_names_exists(name: str) -> None:
    backend = BACKENDS[name]
    assert backend.cache_backend in BACKENDS
    assert backend.expected_as in BACKENDS
    assert backend.cache in ("", *CACHES)
    assert all(find_spec(f"observatory.benchmarks.probes.{probe}") for probe in backend.probes)
    assert not backend.patch or hasattr(backends, backend.patch)


@pytest.mark.parametrize("name", CAUSES)
def test_what_a_cause_names_exists(name: str) -> None:
    counted = {*METRICS, REUSE_LOST.name}
    cause = CAUSES[name]
    assert {*cause.shows_in, *cause.explains} <= counted
    assert cause.found_by in ("", *METRICS)
    assert cause.advice
    said = {"base": "BASE", "head": "HEAD", "family": ("one", "two")}
    assert not cause.cautious or "HEAD" in cause.cautious.format(**said)


def test_of_an_unknown_scenario_or_backend_nothing_is_known_and_nothing_is_raised() -> None:
    cell = Cell("radon", "no_such", "TPU", "fork")
    assert metrics_of(cell.scenario, cell.launch) == ()
    assert cell.cache_backend == "TPU"
    assert not METRICS["cache_misses"].alerts_in(cell.scenario)


@pytest.mark.parametrize("model", QUICK_MODELS)
def test_a_quick_set_is_a_model_of_its_own_with_the_graphs_of_another(model: str) -> None:
    quick, whole = MODELS[model], MODELS[MODELS[model].quick_of]
    assert set(quick.members) < set(whole.members)
    assert set(quick.equal) == set(whole.equal) & set(quick.members)
    assert quick.build is whole.build
    assert quick.families == whole.families
    assert quick.size < whole.size


def test_the_census_the_pairs_and_the_topics_have_quick_sets() -> None:
    assert {MODELS[name].quick_of for name in QUICK_MODELS} == {"ops", "keys", "topics"}


def test_a_quick_set_of_unknown_members_is_refused() -> None:
    with pytest.raises(ValueError, match="has no members"):
        replace(MODELS["ops"], quick=("no such graph",))
