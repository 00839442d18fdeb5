"""Ratios, counts and cells in words."""

from __future__ import annotations

import pytest

from observatory.benchmarks.catalogue import Cell
from observatory.store.records.comparison import GraphChange, Ratio, Values
from observatory.text.comparison.breakdown import Labels
from observatory.text.comparison.phrases import certainty, effect, folded_graphs
from observatory.text.document import Table, Words
from tests import factories_comparison as factory
from tests.factories_comparison import cell, exact, noisy, where


def plain(words: Words) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in words)


@pytest.mark.parametrize(
    ("estimate", "low", "high", "said", "sure"),
    [
        (3.3, 3.1, 3.5, "slower: ×3.3", "95 % interval ×3.1 to ×3.5"),
        (1.08, 1.06, 1.10, "slower: +8 %", "95 % interval +6 to +10 %"),
        (0.92, 0.90, 0.94, "faster: −8 %", "95 % interval −10 to −6 %"),
        (0.5, 0.4, 0.625, "faster: ÷2", "95 % interval ÷2.5 to −38 %"),
        (1.02, 0.98, 1.06, "slower: +2 %", "95 % interval −2 to +6 %"),
        (0.25, 0, 0.5, "faster: ÷4", "95 % interval −100 % to ÷2"),
        (18.2, 18.1, 18.3, "slower: ×18", "95 % interval ×18"),
    ],
)
def test_a_ratio_is_said_in_words(
    estimate: float, low: float, high: float, said: str, sure: str
) -> None:
    ratio = Ratio(estimate=estimate, low=low, high=high, confidence=0.95)
    sides = {"base": Values(values=[1.0] * 7), "head": Values(values=[estimate] * 7)}
    found = noisy(cell("cold C fork"), "compile_time", ratio=ratio).model_copy(update=sides)
    assert effect(found) == said
    assert certainty(ratio) == sure


def test_a_change_is_that_of_the_medians_and_else_is_called_an_estimate() -> None:
    ratio = Ratio(estimate=1.04, low=1.01, high=1.15, confidence=0.95)
    found = noisy(cell("cold C fork"), "compile_time", ratio=ratio)

    def said(head: float) -> str:
        sides = {"base": Values(values=[1.0] * 7), "head": Values(values=[head] * 7)}
        return effect(found.model_copy(update=sides))

    assert said(1.06) == "slower: +6 %"
    assert said(1.36) == "slower: +4 % by estimate"
    assert said(0.98) == "slower: +4 % by estimate"


def test_memory_is_larger_and_counts_are_higher() -> None:
    assert effect(noisy(cell("cold C fork"), "peak_rss", 1.5)) == "larger: +50 %"
    assert effect(factory.calls(cell("cold C fork"), 0.9, "better")) == "lower: −10 %"
    assert effect(exact(cell("cold C fork"), "cache_misses", 0, 35)) == "higher: +35"


def test_the_range_of_all_values_is_not_called_an_interval_of_confidence() -> None:
    ratio = Ratio(estimate=1.05, low=1.04, high=1.06, confidence=None)
    assert certainty(ratio) == "range of all values +4 to +6 %"
    assert certainty(ratio.model_copy(update={"low": 1.05, "high": 1.05})) == ""


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


@pytest.mark.parametrize(
    ("notes", "columns"), [(("", ""), ("graph",)), (("", "no key"), ("graph", "what it says"))]
)
def test_graphs_have_a_column_for_what_is_said_only_if_something_is(
    notes: tuple[str, ...], columns: tuple[str, ...]
) -> None:
    changes = [GraphChange(name=f"g{number}", note=note) for number, note in enumerate(notes)]
    (table,) = folded_graphs(changes, 5).content
    assert isinstance(table, Table)
    assert table.header == columns
    assert {len(row) for row in table.rows} == {len(columns)}
