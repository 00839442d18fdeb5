"""Ratios, counts and cells in words."""

from __future__ import annotations

import pytest

from benchmarks.catalogue import Cell
from dashboard.document import Words
from dashboard.telling.cells import Labels
from dashboard.telling.phrases import certainty, effect
from observatory.record.comparison import Ratio
from tests import factories_comparison as factory
from tests.factories_comparison import cell, exact, noisy, where


def plain(words: Words) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in words)


@pytest.mark.parametrize(
    ("estimate", "low", "high", "said", "sure"),
    [
        (3.3, 3.1, 3.5, "3.3 times slower", "95 % interval 3.1 to 3.5 times"),
        (1.08, 1.06, 1.10, "8 % slower", "95 % interval 6 to 10 %"),
        (0.92, 0.90, 0.94, "8.7 % faster", "95 % interval 6.4 to 11 %"),
        (0.5, 0.4, 0.625, "2 times faster", "95 % interval 1.6 to 2.5 times"),
        (1.02, 0.98, 1.06, "2 % slower", "95 % interval -2 to 6 %"),
        (0.25, 0, 0.5, "4 times faster", "95 % interval 2 to over 1,000 times"),
        (18.2, 18.1, 18.3, "18 times slower", "95 % interval 18 times"),
    ],
)
def test_a_ratio_is_said_in_words(
    estimate: float, low: float, high: float, said: str, sure: str
) -> None:
    ratio = Ratio(estimate=estimate, low=low, high=high, confidence=0.95)
    found = noisy(cell("cold C fork"), "compile_time", ratio=ratio)
    assert effect(found) == said
    assert certainty(ratio, "seconds") == sure


def test_memory_is_larger_and_counts_are_more() -> None:
    assert effect(noisy(cell("cold C fork"), "peak_rss", 1.5)).endswith(" % larger")
    assert effect(factory.calls(cell("cold C fork"), 0.9, "better")) == "10 % fewer"
    assert effect(exact(cell("cold C fork"), "cache_misses", 0, 35)) == "35 more"


def test_the_range_of_all_values_is_not_called_an_interval_of_confidence() -> None:
    ratio = Ratio(estimate=1.05, low=1.04, high=1.06, confidence=None)
    assert certainty(ratio, "seconds") == "range of all values 4 to 6 %"
    assert certainty(ratio.model_copy(update={"low": 1.05, "high": 1.05}), "seconds") == ""


@pytest.mark.parametrize(
    ("cells", "crowd", "named"),
    [
        ([cell("call C fork")], "call C fork", "call C fork"),
        (where(backend="NUMBA"), "every cell of NUMBA", "every cell of NUMBA"),
        (factory.CELLS, "every cell", "every cell"),
        (
            [each for each in factory.CELLS if each.scenario not in ("siblings", "variants")],
            "24 cells",
            "cold, warm_disk, warm_process and call · C, C_VM and NUMBA · fork and spawn",
        ),
        (
            [each for each in where(scenario="call") if each != cell("call C spawn")],
            "5 call cells",
            "call C fork; call · C_VM and NUMBA · fork and spawn",
        ),
        (
            where(scenario=("call", "variants")),
            "8 cells",
            "variants · NUMBA · fork and spawn; call · C, C_VM and NUMBA · fork and spawn",
        ),
        (
            where(backend=("C", "C_VM")),
            "16 cells of C and C_VM",
            "cold, warm_disk, warm_process and call · C and C_VM · fork and spawn",
        ),
        (
            where(backend="NUMBA", launch="fork"),
            "6 cells of NUMBA",
            "cold, warm_disk, warm_process, variants, siblings and call · NUMBA · fork",
        ),
        (
            where(scenario=("warm_disk", "warm_process"), backend=("C", "NUMBA")),
            "8 warm cells of C and NUMBA",
            "warm_disk and warm_process · C and NUMBA · fork and spawn",
        ),
        (
            where(scenario="cold", launch="fork"),
            "3 cold cells",
            "cold · C, C_VM and NUMBA · fork",
        ),
        (
            [*where(scenario="cold", backend="C"), cell("call NUMBA fork")],
            "3 cells of C and NUMBA",
            "cold · C · fork and spawn; call NUMBA fork",
        ),
    ],
)
def test_cells_are_said_by_what_they_have_in_common(
    cells: list[Cell], crowd: str, named: str
) -> None:
    labels = Labels.of(factory.nothing_changed())
    assert plain(labels.crowd(set(cells))) == crowd
    assert plain(labels.cells(cells)) == named


def test_a_cell_that_nothing_was_measured_in_is_not_every_cell() -> None:
    labels = Labels.of(factory.nothing_changed())
    strange = {cell("cold NUMBA forkserver"), cell("call NUMBA forkserver")}
    assert plain(labels.cells(strange)) == "cold and call · NUMBA · forkserver"
