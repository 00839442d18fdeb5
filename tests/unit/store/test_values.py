"""Which samples, and which of their values, stand for a cell."""

from __future__ import annotations

import pytest

from observatory.analyze.comparison.evidence import Evidence
from observatory.benchmarks.catalogue import METRICS, Cell
from observatory.store.journal.latest import latest
from observatory.store.journal.values import current_header, latest_runs, values_of
from observatory.store.records.sample import Sample
from tests.factories import LATER, RUN, WARM, entry, failed, header, sample

COLD = Cell("radon", "cold", "NUMBA", "fork")


def test_each_pass_of_each_cell_has_its_own_latest_run() -> None:
    entries = [
        entry(sample(hash_seed=1)),
        entry(sample(measure="counting", hash_seed=2)),
        entry(sample(COLD, hash_seed=3)),
        entry(sample(hash_seed=4), LATER),
        entry(sample(hash_seed=5), RUN),
    ]
    assert [one.sample.hash_seed for one in latest_runs(entries)] == [2, 3, 4]


def test_a_run_in_which_the_subject_could_not_give_the_cell_is_no_attempt() -> None:
    given, not_given = entry(sample()), entry(sample(status="unavailable", metrics={}), LATER)
    assert latest_runs([given, not_given]) == [given]
    assert latest_runs([not_given]) == [not_given]


def test_times_of_a_search_count_only_where_no_other_run_took_them() -> None:
    """They are as few as tell two subjects apart, and a busy machine took them."""
    search = "20270101T000000Z-bisect"
    usual, searched = entry(sample(), LATER), entry(sample(), search)
    counted = entry(sample(measure="counting"), search)
    assert latest_runs([usual, searched]) == [usual]
    assert latest_runs([searched]) == [searched]
    assert latest_runs([entry(sample(measure="counting"), LATER), counted]) == [counted]


def test_a_failure_counts_and_an_older_value_does_not_hide_it() -> None:
    assert [one.run for one in latest_runs([entry(sample()), entry(failed(), LATER)])] == [LATER]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("crashed", [0.0, 1.0, 1.0]), ("wrong_results", [2.0, 1.0]), ("compile_time", [3.0])],
)
def test_wrongness_is_taken_from_failed_samples_and_other_values_are_not(
    metric: str, expected: list[float]
) -> None:
    samples = [
        sample(metrics={"wrong_results": 2, "compile_time": 3.0}),
        failed(metrics={"wrong_results": 1, "compile_time": 4.0}),
        failed(metrics={}),
    ]
    assert values_of(METRICS[metric], samples) == expected


def test_the_current_header_has_what_was_added_for_each_optional_backend() -> None:
    plain = header()
    jax, newer_jax, torch = (
        plain.model_copy(update={"versions": plain.versions.model_copy(update={"added": added})})
        for added in ({"jax": "0.8.0"}, {"jax": "0.8.1"}, {"torch": "2.9.0"})
    )
    entries = [entry(sample(), under=under) for under in (jax, newer_jax, torch, plain)]
    found = current_header(entries, plain)
    assert found is not None
    assert found.versions.added == {"jax": "0.8.1", "torch": "2.9.0"}


@pytest.mark.parametrize("metric", ["crashed", "wrong_results", "compile_time", "cache_misses"])
def test_a_comparison_and_the_pages_take_the_same_values(metric: str) -> None:
    numbers = {"wrong_results": 1, "compile_time": 3.0, "cache_misses": 2}
    samples: list[Sample] = [
        sample(metrics=numbers),
        sample(measure="counting", metrics=numbers | {"wrong_results": 4}),
        failed(metrics=numbers),
    ]
    shown = {
        one.metric.name: sorted(one.values) for one in latest(map(entry, samples)).recorded
    }  # fmt: skip
    compared = Evidence.of(samples).values(WARM, METRICS[metric])
    assert shown[metric] == sorted(compared.values)
