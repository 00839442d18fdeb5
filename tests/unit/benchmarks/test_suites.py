"""What an ASV benchmark makes of the samples that its suite took."""

from __future__ import annotations

import re
from typing import Any

import pytest
from asv_runner.benchmarks._base import get_setup_cache_key

from observatory.benchmarks import canary, suites
from observatory.benchmarks.catalogue import SAMPLE_SCHEMA, Cell, models_of
from observatory.benchmarks.compile import WarmDisk
from observatory.benchmarks.messages import Failure, SampleRecord
from observatory.benchmarks.request import Request
from observatory.benchmarks.suites import CellSamples, Samples

CELL = ("radon", "NUMBA", "fork")


def samples(values: dict[str, list[float]], **why: str) -> Samples:
    return {CELL: CellSamples({"wrong_results": [0], "crashed": [0], **values}, why)}


def result(metric: str, found: Samples, *cell: str) -> Any:
    """What asv gets: its setup first, then the benchmark."""
    segmented = getattr(WarmDisk, f"track_{metric}")
    segmented.setup(found, *(cell or CELL))
    return segmented(WarmDisk(), found, *(cell or CELL))


def test_a_noisy_metric_is_returned_as_samples() -> None:
    found = samples({"compile_time": [0.3, 0.2]})
    assert result("compile_time", found) == {"samples": [0.3, 0.2], "number": 1}


def test_of_an_exact_metric_the_worst_repetition_counts() -> None:
    assert result("cache_misses", samples({"cache_misses": [0, 2, 1]})) == 2


def test_of_a_near_exact_metric_the_median_counts() -> None:
    assert result("python_calls", samples({"python_calls": [7, 9, 8, 7]})) == 8


def test_a_cell_that_was_not_measured_is_not_applicable() -> None:
    with pytest.raises(NotImplementedError, match="not measured"):
        result("cache_misses", samples({"cache_misses": [0]}), "radon", "NUMBA", "spawn")


def test_a_metric_that_the_launch_does_not_have_is_not_applicable() -> None:
    with pytest.raises(NotImplementedError, match="makes no sense under fork"):
        result("import_time", samples({"compile_time": [0.3]}))


def test_a_metric_that_the_version_cannot_give_is_not_applicable_with_the_reason() -> None:
    with pytest.raises(NotImplementedError, match=r"Python 3\.12"):
        result("python_calls", samples({}, python_calls="came with Python 3.12"))


def test_a_backend_that_the_subject_does_not_have_is_not_applicable() -> None:
    found: Samples = {CELL: CellSamples(reasons={"": "numba is not installed"})}
    with pytest.raises(NotImplementedError, match="numba is not installed"):
        result("crashed", found)


def test_what_a_crash_left_without_a_number_is_a_failure_that_says_why() -> None:
    found = samples({"crashed": [0, 1]}, compile_time="killed: died of SIGSEGV")
    assert result("crashed", found) == 1
    with pytest.raises(RuntimeError, match=r"no sample gave compile_time.*SIGSEGV"):
        result("compile_time", found)


def test_a_crash_of_one_pass_takes_no_number_from_another() -> None:
    found = samples({"crashed": [0, 1], "cache_misses": [3]})
    assert result("cache_misses", found) == 3


def recorded(
    request: Request, metrics: dict[str, float], failure: Failure | None = None
) -> SampleRecord:
    return SampleRecord(
        schema=SAMPLE_SCHEMA,
        cell=request.cell,
        measure=request.measure,
        hash_seed=1,
        started_at="2026-11-20T12:00:00+00:00",
        status="ok" if failure is None else "raised",
        failure=failure,
        metrics=metrics,
        absent={},
    )


def test_the_samples_of_a_suite_are_those_of_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []

    def take(request: Request) -> SampleRecord:
        taken.append((request.cell, request.measure, request.cache, request.keep_cache))
        if request.keep_cache is not None:
            request.keep_cache.mkdir()
        metric = {"timing": "compile_time", "counting": "cache_misses", "tracing": "python_calls"}
        return recorded(request, {metric[request.measure]: len(taken)})

    monkeypatch.setattr(suites, "take", take)
    monkeypatch.setenv("OBSERVATORY_BACKENDS", "C")
    monkeypatch.setenv("OBSERVATORY_LAUNCHES", "fork")
    monkeypatch.setenv("OBSERVATORY_ROUNDS", "2")
    found = suites.take_samples("warm_disk")
    warm, cold = (Cell("radon", s, "C", "fork") for s in ("warm_disk", "cold"))
    assert [(cell, measure) for cell, measure, _, _ in taken] == [
        (cold, "counting"), (warm, "counting"), (warm, "tracing"), (warm, "timing"),
        (warm, "timing"),
    ]  # fmt: skip
    assert {cache for _, _, cache, _ in taken[1:]} == {taken[0][3]}
    assert list(found) == [("radon", "C", "fork")]
    values = found["radon", "C", "fork"].values
    assert values == {"cache_misses": [2], "python_calls": [3], "compile_time": [4, 5]}


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("OBSERVATORY_BACKENDS", "there is no backend 'NUMAB' (did you mean 'NUMBA'?)"),
        ("OBSERVATORY_LAUNCHES", "there is no start method 'NUMAB'; choose from"),
    ],
)
def test_a_word_that_does_not_exist_is_no_suite_without_samples(
    monkeypatch: pytest.MonkeyPatch, variable: str, said: str
) -> None:
    monkeypatch.setenv(variable, "NUMAB")
    with pytest.raises(ValueError, match=re.escape(f"{variable}: {said}")):
        suites.take_samples("warm_disk")


def test_a_backend_of_other_suites_alone_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "take", lambda _: pytest.fail("nothing is measured"))
    monkeypatch.setenv("OBSERVATORY_BACKENDS", "JAX")
    assert suites.take_samples("variants") == {}


def test_a_filler_that_failed_does_not_take_the_suite_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caches = []

    def take(request: Request) -> SampleRecord:
        caches.append(request.cache)
        return recorded(request, {"crashed": 1}, Failure("it broke", None, 1, ()))

    monkeypatch.setattr(suites, "take", take)
    monkeypatch.setenv("OBSERVATORY_BACKENDS", "C")
    found = suites.take_samples("warm_disk")
    assert set(caches) == {None}
    assert {cell.values["crashed"][0] for cell in found.values()} == {1}


def test_every_suite_takes_the_samples_of_its_own_scenario_and_asv_tells_them_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[tuple[str, tuple[str, ...]]] = []

    def take_samples(scenario: str, models: tuple[str, ...]) -> Samples:
        taken.append((scenario, models))
        return {}

    monkeypatch.setattr(suites, "take_samples", take_samples)
    found = [canary.SiblingsAtOnce, canary.SiblingsNested, canary.SamplingWarm]
    for each in found:
        each().setup_cache()
    siblings = models_of("siblings")
    assert taken == [
        ("siblings_at_once", siblings),
        ("siblings_nested", siblings),
        ("sampling_warm", ("radon_pymc",)),
    ]
    keys = [get_setup_cache_key(each.setup_cache) for each in found]
    assert len(set(keys)) == len(keys)
    assert all(key.startswith("benchmarks.canary:") for key in keys)
