"""Finished verdicts of pairs are those of a whole comparison, without the tests nothing needs."""

import random
from collections.abc import Sequence

import pytest

from observatory.analyze.comparison import noisy
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.comparison.noise_floors import NoiseFloors
from observatory.analyze.comparison.verdicts import judge_noisy
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.sample import Sample
from tests.factories import sample

CELLS = [Cell("radon", "warm_disk", backend, "spawn") for backend in ("C", "C_VM", "NUMBA")]
APART = NoiseFloors(interleaved=False)


def side(factors: Sequence[float], spread: float, number: int, seed: int) -> Evidence:
    chance = random.Random(seed)
    taken: list[Sample] = [
        sample(cell, metrics={
            "compile_time": factor * chance.lognormvariate(0, spread),
            "import_time": factor * chance.lognormvariate(0, spread),
        })
        for cell, factor in zip(CELLS, factors, strict=True)
        for _ in range(number)
    ]  # fmt: skip
    return Evidence.of(taken)


@pytest.mark.parametrize("number", [7, 12])
@pytest.mark.parametrize("spread", [0.01, 0.3])
@pytest.mark.parametrize("factors", [(1, 1, 1), (1, 1.3, 0.5), (1.26, 1, 1)])
def test_a_conclusion_does_not_depend_on_tests_that_are_left_out(
    number: int, spread: float, factors: Sequence[float]
) -> None:
    sides = side((1, 1, 1), spread, number, 1), side(factors, spread, number, 2)
    found, whole = (
        {
            (one.cell, one.metric): one.conclusion
            for one in judge_noisy(CELLS, *sides, APART, 0, conclusions_only=short)
        }
        for short in (True, False)
    )
    assert found == whole


def test_no_test_is_run_where_all_values_are_apart_or_no_change_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def tested(*_: object, **__: object) -> noisy.Tested:
        raise AssertionError("a test was run")

    monkeypatch.setattr(noisy, "tested", tested)
    sides = side((1, 1, 1), 0.01, 12, 1), side((2, 2, 2), 0.01, 12, 2)
    found = judge_noisy(CELLS, *sides, APART, 0, conclusions_only=True)
    assert {one.conclusion for one in found} == {"worse"}
    with pytest.raises(AssertionError, match="a test was run"):
        judge_noisy(CELLS, *sides, APART, 0)
